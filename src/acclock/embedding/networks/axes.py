"""Channel attention: the three axes, weighted by how much each has to say."""

from torch import Tensor, nn
from torch.nn import functional

from acclock.embedding.networks.patches import cut_patches


class AxisAttention(nn.Module):
    """Windows of several axes in, the same windows out with each axis weighted.

    Paper: Sec. 7.4.4, the extension to three axes. Every axis is summed up in one token, the
    tokens look at each other through multi-head attention, and each becomes a weight. The
    weights of a window are positive and their mean is one, so that its level is kept.

    Ours: the paper says no more than that attention weighs the axes. The summary passes
    through a non-linearity, because the mean of a linear map of an oscillation is nothing.
    """

    def __init__(self, *, axes: int, patch_length: int, width: int, heads: int) -> None:
        super().__init__()
        self.axes = axes
        self.patch_length = patch_length
        self.embed = nn.Linear(patch_length, width)
        self.which = nn.Embedding(axes, width)
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.score = nn.Linear(width, 1, bias=False)  # a bias would cancel in the softmax

    def forward(self, windows: Tensor) -> Tensor:
        return windows * self.weigh(windows).unsqueeze(-1)

    def weigh(self, windows: Tensor) -> Tensor:
        """Give the weight of every axis: ``(batch, axis)``."""
        patches = cut_patches(windows, self.patch_length)
        tokens = functional.gelu(self.embed(patches)).mean(dim=2) + self.which.weight
        mixed, _ = self.attend(tokens, tokens, tokens, need_weights=False)
        scores = self.score(functional.gelu(tokens + mixed)).squeeze(-1)
        return scores.softmax(dim=1) * self.axes
