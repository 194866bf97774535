"""Windows brought to one level, as part of the model."""

from typing import Self

from torch import Tensor

from acclock.embedding.networks.siamese import EmbeddingModel

_QUIETEST = 1e-6
"""RMS in m/s² below which a window is silence and is not blown up."""


def level(windows: Tensor) -> Tensor:
    """Give windows with a mean square of one over all axes together; silence stays silent.

    Ours (docs/decisions/0018): a heart in the ear shakes ten times harder than one on the chest,
    and a looser earphone less. How the axes compare is kept.
    """
    power = windows.square().mean(dim=(1, 2), keepdim=True)
    return windows / (power + _QUIETEST**2).sqrt()


class LeveledModel(EmbeddingModel):
    """Windows in m/s² in, unit embeddings out, however strong the windows are."""

    @classmethod
    def of(cls, model: EmbeddingModel) -> Self:
        """Put the leveling in front of a model. The weights are shared."""
        return cls(model.network, model.head)

    def forward(self, windows: Tensor) -> Tensor:
        return super().forward(level(windows))
