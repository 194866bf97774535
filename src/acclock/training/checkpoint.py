"""A training, put aside: safetensors and JSON, nothing that could run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Self

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from acclock.errors import ModelError

FORMAT = 1
_KEY = "acclock.checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one epoch came to."""

    stage: str
    epoch: int
    epochs: int
    loss: float
    error: float | None
    """Equal error of people who are not learned from; ``None`` where nobody is kept apart."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checkpoint:
    """Where a run was, and every number that it held."""

    stage: int
    epoch: int
    reports: Sequence[Report]
    tensors: Mapping[str, Tensor]
    """Named ``model.*``, ``best.*`` and ``optimizer.<parameter>.*``."""

    @classmethod
    def of(
        cls,
        *,
        stage: int,
        epoch: int,
        reports: Sequence[Report],
        model: Mapping[str, Tensor],
        best: Mapping[str, Tensor],
        optimizer: Mapping[int, Mapping[str, Tensor]],
    ) -> Self:
        """Gather what a run holds."""
        moments = {f"{n}.{name}": x for n, held in optimizer.items() for name, x in held.items()}
        groups = {"model": model, "best": best, "optimizer": moments}
        tensors = {
            f"{group}.{name}": tensor.detach().clone().contiguous()
            for group, held in groups.items()
            for name, tensor in held.items()
        }
        return cls(stage=stage, epoch=epoch, reports=tuple(reports), tensors=tensors)

    def tensors_of(self, group: str) -> dict[str, Tensor]:
        """Give the tensors of one group by their own names."""
        prefix = f"{group}."
        return {
            name.removeprefix(prefix): tensor.clone()
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }

    def optimizer_state(self) -> dict[int, dict[str, Tensor]]:
        """Give the optimizer's moments as it wants them: by number of the parameter."""
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in self.tensors_of("optimizer").items():
            number, _, moment = name.partition(".")
            state.setdefault(int(number), {})[moment] = tensor
        return state

    def to_bytes(self) -> bytes:
        """Write the checkpoint down."""
        told = {
            "format": FORMAT,
            "stage": self.stage,
            "epoch": self.epoch,
            "reports": [asdict(report) for report in self.reports],
        }
        return bytes(safetensors.torch.save(dict(self.tensors), {_KEY: json.dumps(told)}))

    @classmethod
    def from_bytes(cls, packed: bytes) -> Self:
        """Read a checkpoint, or say that it is none."""
        try:
            header = json.loads(packed[8 : 8 + int.from_bytes(packed[:8], "little")])
            told = json.loads(header["__metadata__"][_KEY])
            if told.pop("format") != FORMAT:
                raise ModelError("the checkpoint is of another version of AccLock")
            told["reports"] = tuple(Report(**report) for report in told["reports"])
            return cls(tensors=safetensors.torch.load(packed), **told)
        except (ValueError, KeyError, TypeError, SafetensorError) as error:
            raise ModelError("these bytes are not the checkpoint of a training") from error
