"""Windows brought to one level, as part of every model."""

from torch import Tensor

_QUIETEST = 1e-6
"""RMS in m/s² below which a window is silence and is not blown up."""


def level(windows: Tensor) -> Tensor:
    """Give windows with a mean square of one over all axes together; silence stays silent.

    Ours (docs/decisions/0018): a heart in the ear shakes ten times harder than one on the chest,
    and a looser earphone less. How the axes compare is kept.
    """
    power = windows.square().mean(dim=(1, 2), keepdim=True)
    return windows / (power + _QUIETEST**2).sqrt()
