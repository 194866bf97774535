"""All experiments by name."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from acclock.errors import ConfigError
from acclock.experiments.paper import studies
from acclock.experiments.paper.variants import Experiment


def list_experiments() -> dict[str, Experiment]:
    """Give every experiment by its name, in the order of the paper's figures and tables."""
    modules = [
        import_module(f"{studies.__name__}.{one.name}") for one in iter_modules(studies.__path__)
    ]
    found = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Experiment)
    ]
    return {one.name: one for one in sorted(found, key=_place)}


def find_experiments(names: Iterable[str]) -> list[Experiment]:
    """Give experiments by name, all of them for no name; an unknown one is refused."""
    known = list_experiments()
    return [_find(name, known) for name in names] or list(known.values())


def _find(name: str, known: dict[str, Experiment]) -> Experiment:
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1, cutoff=0.3)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    raise ConfigError(f"there is no experiment {name!r}; {hint}")


def _place(experiment: Experiment) -> tuple[str, int, str]:
    kind, number = experiment.where.replace(",", " ").split()[:2]
    return kind, int(number.split(".")[0]), experiment.name
