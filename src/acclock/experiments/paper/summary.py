"""Outcomes of all folds and seeds, as rows beside the paper's, with paired tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from acclock.experiments.bootstrap import Estimate, draw_people, estimate
from acclock.experiments.paper.cohorts import SIMULATED
from acclock.experiments.paper.scales import Scale
from acclock.experiments.paper.store import Record
from acclock.experiments.paper.variants import Experiment, Variant
from acclock.values import FloatArray


def wilcoxon(some: Sequence[float], others: Sequence[float]) -> float | None:
    """Give the two-sided p-value of Wilcoxon's signed-rank test, exactly, ties included.

    Pairs without a difference are left out; without any other pair there is nothing to test.

    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0] * 6)
    0.03125
    """
    differences = np.subtract(some, others)
    differences = differences[differences != 0]
    if not differences.size:
        return None
    # ranks that ties share end in a half; doubled, all of them are whole
    doubled = np.round(2 * _rank(np.abs(differences))).astype(int)
    total = int(doubled.sum())
    chances = _add_up(doubled, total)
    positive = int(doubled[differences > 0].sum())
    least = min(positive, total - positive)
    return float(min(1.0, 2.0 * chances[: least + 1].sum()))


def correct(chances: Sequence[float | None]) -> list[float | None]:
    """Raise p-values as Holm does, so that all of them together err as rarely as one.

    >>> correct([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    asked = [(chance, n) for n, chance in enumerate(chances) if chance is not None]
    corrected: list[float | None] = [None] * len(chances)
    highest = 0.0
    for place, (chance, n) in enumerate(sorted(asked)):
        highest = max(highest, min(1.0, chance * (len(asked) - place)))
        corrected[n] = highest
    return corrected


def _rank(sizes: FloatArray) -> FloatArray:
    """Rank from 1 on; equal sizes share the mean of their ranks."""
    _, which, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    lasts = np.cumsum(counts)
    return np.asarray((lasts - (counts - 1) / 2.0)[which])


def _add_up(ranks: FloatArray, total: int) -> FloatArray:
    """Give how likely each sum of ranks is when every sign is a coin."""
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in ranks.astype(int):
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: total + 1 - rank]
        chances = (chances + moved) / 2.0
    return chances


_WORST = "worst "
_COMPARED = ("far", "frr")
Rates = dict[str, dict[str, float]]
"""Person -> rate by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One figure of ours."""

    figure: Estimate
    people: int
    chance: float | None = None
    """How likely so large a difference from the first variant is by chance, corrected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of the paper, or one that it might have had."""

    variant: str
    what: str
    is_share: bool
    """Shares are told in percent."""
    paper: float | None
    simulated: Cell | None
    real: Cell | None

    @property
    def differences(self) -> list[float]:
        """How far from the paper: what was simulated first, then real hearts."""
        cells = [cell for cell in (self.simulated, self.real) if cell is not None]
        return [] if self.paper is None else [cell.figure.value - self.paper for cell in cells]


def summarize(
    experiment: Experiment, records: Mapping[str, list[Record]], *, scale: Scale
) -> list[Row]:
    """Give the rows of an experiment from what each cohort came to.

    A network that has learned for fewer epochs than it needs is compared with no other.
    """
    compared = _choose_compared(experiment, scale)
    cells = {name: _fill(experiment, held, compared) for name, held in records.items()}
    simulated = cells.get(SIMULATED, {})
    real = next((found for name, found in cells.items() if name != SIMULATED), {})
    keys = dict.fromkeys(
        chain.from_iterable(_order(variant, [*simulated, *real]) for variant in experiment.variants)
    )
    return [
        Row(
            variant=variant,
            what=what,
            is_share="," not in what,
            paper=experiment.variant(variant).paper.get(what),
            simulated=simulated.get((variant, what)),
            real=real.get((variant, what)),
        )
        for variant, what in keys
    ]


def gather_rates(records: Sequence[Record], variant: str) -> Rates:
    """Give the rates of everybody under a variant; of several seeds, each is a person more."""
    return {
        f"{record.seed}/{name}": dict(rates)
        for record in records
        if record.variant == variant
        for name, rates in record.outcome.people.items()
    }


def _choose_compared(experiment: Experiment, scale: Scale) -> list[str]:
    """Name the variants that the first may be compared with."""
    first, *others = experiment.variants
    if not experiment.paired or not _has_converged(experiment, first, scale):
        return []
    return [one.name for one in others if _has_converged(experiment, one, scale)]


def _has_converged(experiment: Experiment, variant: Variant, scale: Scale) -> bool:
    epochs = scale.count_epochs(variant.recipe)
    return epochs is None or epochs >= experiment.needed_epochs


def _order(variant: Variant, keys: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    found = [(variant.name, what) for what in variant.paper]
    return found + [key for key in keys if key[0] == variant.name]


def _fill(
    experiment: Experiment, records: list[Record], compared: Sequence[str]
) -> dict[tuple[str, str], Cell]:
    first = gather_rates(records, experiment.variants[0].name)
    cells: dict[tuple[str, str], Cell] = {}
    for variant in experiment.variants:
        rates = gather_rates(records, variant.name)
        cells |= {
            (variant.name, what): cell for what, cell in _measure(rates, experiment.shown).items()
        }
        for record in records:
            if record.variant == variant.name:
                cells |= {
                    (variant.name, what): Cell(figure=_be_sure(value), people=0)
                    for what, value in record.outcome.values.items()
                }
    return cells | _compare(records, first, cells, compared)


def _measure(rates: Rates, shown: Sequence[str]) -> dict[str, Cell]:
    if len(rates) < 2:
        return {}
    draws = draw_people(len(rates))
    cells = {}
    for what in shown:
        each = [one.get(what.removeprefix(_WORST)) for one in rates.values()]
        known = np.array([rate for rate in each if rate is not None])
        if known.size != len(rates):
            continue
        if what.startswith(_WORST):
            figure = _be_sure(float(known.max()))
        else:
            means = draws @ known / draws.sum(axis=1)
            figure = estimate(float(known.mean()), means, people=len(rates))
        cells[what] = Cell(figure=figure, people=len(rates))
    return cells


def _be_sure(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def _compare(
    records: list[Record],
    first: Rates,
    cells: dict[tuple[str, str], Cell],
    compared: Sequence[str],
) -> dict[tuple[str, str], Cell]:
    keys = [(name, what) for name in compared for what in _COMPARED if (name, what) in cells]
    chances = [_test(first, gather_rates(records, variant), what) for variant, what in keys]
    return {
        key: Cell(figure=cells[key].figure, people=cells[key].people, chance=chance)
        for key, chance in zip(keys, correct(chances), strict=True)
    }


def _test(first: Rates, other: Rates, what: str) -> float | None:
    both = sorted(first.keys() & other.keys())
    return wilcoxon([first[who][what] for who in both], [other[who][what] for who in both])
