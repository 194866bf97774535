"""What a network tells the losses."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outputs:
    """Everything that the losses ask about a batch; a plain network has only the first two."""

    identity: Tensor
    """Identity features, H_ID: ``(batch, feature)``."""
    identity_logits: Tensor
    """Which person the identity features point to: ``(batch, person)``."""
    nuisance: Tensor | None = None
    """Nuisance features, H_NID: ``(batch, feature)``."""
    nuisance_logits: Tensor | None = None
    """Which person the adversary reads out of the nuisance features: ``(batch, person)``."""
    reconstruction: Tensor | None = None
    """The windows, rebuilt from both: ``(batch, axis, sample)``."""
