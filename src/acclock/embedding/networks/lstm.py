"""The baseline that remembers."""

from torch import Tensor, nn

from acclock.embedding.networks.config import LstmConfig, WindowShape


class Lstm(nn.Module):
    """Windows in, features out by reading sample after sample; the mean of what is remembered.

    Paper: Sec. 7.2.4, baseline LSTM.
    """

    def __init__(self, config: LstmConfig, shape: WindowShape) -> None:
        super().__init__()
        self.feature_width = config.hidden_width
        self.remember = nn.LSTM(
            shape.axes, config.hidden_width, num_layers=config.layers, batch_first=True
        )

    def forward(self, windows: Tensor) -> Tensor:
        memories, _ = self.remember(windows.transpose(1, 2))  # (batch, sample, hidden)
        return memories.mean(dim=1)
