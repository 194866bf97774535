"""A training put aside, its curves, and trained weights: safetensors and JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import onnx
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor
from torch.utils.tensorboard import SummaryWriter

from acclock import models
from acclock.embedding.card import CARD_KEY, Card
from acclock.embedding.embedder import Embedder
from acclock.embedding.networks.config import WindowShape
from acclock.embedding.networks.registry import build, read_config
from acclock.embedding.networks.siamese import EmbeddingModel
from acclock.errors import ModelError
from acclock.models.files import read_model
from acclock.training.export import check_parity, draw_noise

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


class Scalars:
    """Loss and error of every epoch, written as they come. A run that goes on adds to them."""

    def __init__(self, folder: Path) -> None:
        self._writer = SummaryWriter(str(folder))

    def add(self, report: Report) -> None:
        """Write down one epoch."""
        self._write(f"{report.stage}/loss", report.loss, report.epoch)
        if report.error is not None:
            self._write(f"{report.stage}/equal_error", report.error, report.epoch)

    def close(self) -> None:
        """Write out what is still held."""
        self._writer.close()

    def _write(self, name: str, value: float, epoch: int) -> None:
        self._writer.add_scalar(name, value, epoch)


_PARITY_WINDOWS = 100


def pack(model: EmbeddingModel, card: Card) -> bytes:
    """Give all weights of a model in one file, with its card inside."""
    people = model.network.name_person.out_features
    if people != len(card.people):
        raise ModelError(
            f"the model names {people} people, and its card says it learned from {len(card.people)}"
        )
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    return bytes(safetensors.torch.save(tensors, metadata={CARD_KEY: card.to_json()}))


def unpack(packed: bytes) -> tuple[EmbeddingModel, Card]:
    """Build the model that a file holds; a file that is damaged or of another kind is refused."""
    card = _read_card(packed)
    model = _build(card)
    try:
        model.load_state_dict(safetensors.torch.load(packed))
    except (SafetensorError, RuntimeError) as error:
        raise ModelError("the weights do not fit the network that the card names") from error
    return model.eval(), card


def recover(exported: bytes) -> tuple[EmbeddingModel, Card]:
    """Build the model that an ONNX file was exported from, by the weights in that file.

    What only training needs (the layer that names people) is not in it and starts anew. A file
    whose weights were merged or rounded when it was written does not give its model back, and
    is refused.
    """
    card = Embedder(exported).card
    model = _build(card).eval()
    held = {
        one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy())
        for one in onnx.load_from_string(exported).graph.initializer
    }
    known = {name: held[name] for name in model.state_dict() if name in held}
    try:
        model.load_state_dict(known, strict=False)
        check_parity(model, exported, draw_noise(card, count=_PARITY_WINDOWS))
    except (RuntimeError, ModelError) as error:
        raise ModelError(
            "the weights cannot be had back from this ONNX file; name the .safetensors beside it"
        ) from error
    return model, card


def _build(card: Card) -> EmbeddingModel:
    return build(
        card.network,
        shape=WindowShape(axes=card.axes, length=card.window_length),
        people=len(card.people),
        seed=0,
        config=read_config(card.network, card.config),
        embedding_width=card.embedding_width,
    )


def _read_card(packed: bytes) -> Card:
    """Read the card out of the header, which the library gives only for files on disk."""
    length = int.from_bytes(packed[:8], "little")
    try:
        header = json.loads(packed[8 : 8 + length])
        told = header["__metadata__"][CARD_KEY]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError("these bytes are not the weights of a model") from error
    return Card.from_json(told)


def load_weights(name: str) -> tuple[EmbeddingModel, Card]:
    """Give the model whose weights lie in a file, or are shipped under this name."""
    shipped = Path(models.__file__).parent
    places = (Path(name), shipped / f"{name}.safetensors", shipped / f"{name}.onnx")
    found = next((path for path in places if path.is_file()), None)
    if found is None:
        raise ModelError(f"there are no weights {name!r}: it is neither a file nor shipped")
    readers = {".safetensors": unpack, ".onnx": recover}
    if found.suffix not in readers:
        raise ModelError(f"{found} does not hold weights; those end in .safetensors or .onnx")
    return readers[found.suffix](read_model(found))
