"""Every model that is at hand: found by what made a template, or by how often a sensor samples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from acclock.acquisition.even import resample
from acclock.embedding.card import Card, least_sampled_hz
from acclock.embedding.embedder import Embedder
from acclock.errors import ModelError
from acclock.matching.cohort import Cohort
from acclock.models.cohorts import cohort_path, read_cohort
from acclock.models.files import SHIPPED_HZ, find_model, fingerprint_of, read_model
from acclock.pipeline import Preparation
from acclock.pipeline.observation import RecordingObservation, observe
from acclock.values import FloatArray, Recording


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedModel:
    """A model that is ready to embed, with its cohort."""

    name: str
    """The name of a shipped model, or the file as it was given."""
    embedder: Embedder
    cohort: Cohort

    @property
    def card(self) -> Card:
        return self.embedder.card

    @property
    def preparation(self) -> Preparation:
        return Preparation.of(self.card)

    def embed(self, windows: FloatArray) -> FloatArray:
        """Give the embeddings of windows ``(batch, 3, n)``."""
        return self.embedder.embed(windows[:, : self.card.axes])

    def observe(self, recording: Recording) -> RecordingObservation:
        """Give the embeddings of a recording's windows, brought to the rate of the model."""
        self.card.require_sampled(recording.native_rate_hz)
        return observe(resample(recording, self.card.rate_hz), self.embedder)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChosenModel:
    """A model, and why it is this one."""

    model: LoadedModel
    reason: str

    @property
    def sentence(self) -> str:
        """Give both in one line, for whoever asked."""
        return f"model {self.model.name}: {self.reason}"


class ModelCatalog:
    """The shipped models and those that the user names. Each is loaded once, when first needed.

    Those of ``given`` enroll, where there are any; those of ``known`` only recognize. Threads may
    share a catalog.
    """

    def __init__(self, given: Sequence[str] = (), *, known: Sequence[str] = ()) -> None:
        self._given = tuple(dict.fromkeys(given))
        # a wrong name is refused now, not when somebody needs it
        at_hand = (*SHIPPED_HZ, *known, *given)
        self._made_by = {fingerprint_of(find_model(name)): name for name in at_hand}
        self._loaded: dict[str, LoadedModel] = {}
        self._loading = Lock()

    def named(self, name: str) -> LoadedModel:
        """Load a model by its name or file, unless it is loaded."""
        with self._loading:
            if name not in self._loaded:
                self._loaded[name] = _load(name)
            return self._loaded[name]

    def name_of(self, fingerprint: str) -> str | None:
        """Give the name of the model that made a template, if it is at hand. It loads nothing."""
        return self._made_by.get(fingerprint)

    def made(self, fingerprint: str) -> LoadedModel:
        """Give the model that made a template."""
        if (name := self.name_of(fingerprint)) is None:
            raise ModelError(
                f"the model that made the template is not here ({fingerprint[:12]}...): give its "
                "file by --model or ACCLOCK_MODEL, carry the template over by `acclock migrate`, "
                "or enroll again"
            )
        model = self.named(name)
        if model.embedder.fingerprint != fingerprint:
            raise ModelError(f"the file of {name} has changed meanwhile; start again")
        return model

    def choose(self, sampled_hz: float) -> ChosenModel:
        """Choose the model that enrolls: the one of the highest rate that the sensor reaches.

        It is one of those that the user named, or of the shipped ones where none was.
        """
        rates_hz = {name: self.named(name).card.rate_hz for name in self._given} or SHIPPED_HZ
        fitting = [one for one in rates_hz if sampled_hz >= least_sampled_hz(rates_hz[one])]
        if not fitting:
            least_hz = least_sampled_hz(min(rates_hz.values()))
            raise ModelError(
                f"the samples were taken at {sampled_hz:.4g} Hz; {_name_any(rates_hz)} needs at "
                f"least {least_hz:g} Hz"
            )
        best = self.named(max(fitting, key=lambda name: rates_hz[name]))
        asked = len(self._given) == 1
        reason = "it was asked for" if asked else f"the samples were taken at {sampled_hz:.4g} Hz"
        return ChosenModel(model=best, reason=reason)


def _name_any(names: Iterable[str]) -> str:
    *others, last = names
    return f"any of {', '.join(others)} and {last}" if others else last


def _load(name: str) -> LoadedModel:
    path = find_model(name)
    embedder = Embedder(read_model(path))
    cohort = read_cohort(cohort_path(path), model=embedder.fingerprint)
    return LoadedModel(name=name, embedder=embedder, cohort=cohort)
