"""What is left when HIDNet is taken away."""

from torch import Tensor, nn

from acclock.embedding.networks.config import ProjectionConfig, WindowShape


class Projection(nn.Module):
    """Windows in, one linear map of them out.

    Paper: Sec. 7.3, V4, where the Siamese embedding stands alone on the window.
    """

    def __init__(self, config: ProjectionConfig, shape: WindowShape) -> None:
        super().__init__()
        self.feature_width = config.width
        self.project = nn.Linear(shape.axes * shape.length, config.width)

    def forward(self, windows: Tensor) -> Tensor:
        return self.project(windows.flatten(1))
