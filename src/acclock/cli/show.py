"""How an answer reaches the terminal: a table for people, JSON for programs."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from acclock.models.catalog import ChosenModel

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def show(facts: Mapping[str, object], *, as_json: bool, title: str | None = None) -> None:
    """Print named facts: as JSON with the names as they are, or as lines in plain words."""
    if as_json:
        print(json.dumps(dict(facts), ensure_ascii=False, allow_nan=False, indent=2))
        return
    told = {name: fact for name, fact in facts.items() if fact not in (None, [], {})}
    width = max(map(len, told), default=0)
    if title:
        print(title)
    for name, fact in told.items():
        first, *rest = _in_words(fact).split("\n")
        print(f"  {name.replace('_', ' '):<{width}}  {first}")
        for line in rest:
            print(f"  {'':<{width}}  {line}")


def show_chosen(chosen: "ChosenModel", facts: Mapping[str, object], *, as_json: bool) -> None:
    """Print what a model said: with a line that names it and tells why it was that one."""
    named = {"model": chosen.model.name} if as_json else {}
    show({**facts, **named}, as_json=as_json, title=chosen.sentence)


def _in_words(fact: object) -> str:
    match fact:
        case bool():
            return "yes" if fact else "no"
        case float():
            return f"{fact:.4g}"
        case dict():
            return ", ".join(f"{name}: {_in_words(value)}" for name, value in fact.items())
        case list() | tuple():
            return "\n".join(_in_words(value) for value in fact)
        case _:
            return str(fact)
