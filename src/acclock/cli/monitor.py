"""``acclock monitor``: a session that lives while its user wears the earphone."""

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from acclock.cli.grant import Socket
from acclock.cli.live_view import LiveView
from acclock.cli.vaults import AskedModel, Database, Name, VaultFolder, open_desk
from acclock.session.policies import policy_named
from acclock.world.asking import default_socket
from acclock.world.settings import home_folder
from acclock.world.sinks.parsing import parse_sink
from acclock.world.sources import Source, parse_source

if TYPE_CHECKING:
    from acclock.world.monitoring.monitor import Monitor


class PolicyName(StrEnum):
    """How strict."""

    STRICT = "strict"
    BALANCED = "balanced"
    COMFORTABLE = "comfortable"


class EntryName(StrEnum):
    """What opens a session."""

    GRANT = "grant"
    HEARTBEAT = "heartbeat"


SourceText = Annotated[
    str,
    typer.Option(
        "--source",
        show_default=False,
        help="Where samples come from: openearable:ADDRESS, simulate:SCRIPT, replay:FILE ...",
    ),
]
Sinks = Annotated[
    list[str],
    typer.Option("--sink", help="An output, as jsonl:FILE, logind or mqtt://HOST; give many."),
]
Lockers = Annotated[list[str], typer.Option("--on-lock", help="A command that locks.")]
Unlockers = Annotated[list[str], typer.Option("--on-unlock", help="A command that unlocks.")]
Duration = Annotated[float, typer.Option("--for", min=0.1, help="Seconds until it stops.")]


def monitor(
    name: Name,
    *,
    source: SourceText = "",
    sink: Sinks = [],  # noqa: B006 - typer reads them, nobody changes them
    on_lock: Lockers = [],  # noqa: B006
    on_unlock: Unlockers = [],  # noqa: B006
    policy: Annotated[PolicyName, typer.Option(help="How strict.")] = PolicyName.BALANCED,
    entry: Annotated[EntryName, typer.Option(help="What opens it.")] = EntryName.GRANT,
    for_s: Duration = float("inf"),
    socket: Socket = None,
    model: AskedModel = None,
    vault: VaultFolder = None,
    database: Database = None,
) -> None:
    """Keep NAME's session open while their heartbeat is in the ear, and lock it when it is not.

    A grant opens it (`acclock grant NAME`). Events are shown live on a terminal, and are lines of
    JSON elsewhere. Exits 0 at its end, 130 when interrupted, 2 for an error: locked every time.
    """
    # loads the model's runtime and the database, which only commands that use them should
    from acclock.world.monitoring.post import Post
    from acclock.world.monitoring.ward import Ward

    heard, home = parse_source(source), vault or home_folder()
    outputs = [*sink, *(f"on-lock:{words}" for words in on_lock)]
    outputs += [f"on-unlock:{words}" for words in on_unlock]
    shown = sys.stdout.isatty()
    if not shown and "jsonl:-" not in outputs:
        outputs.append("jsonl:-")
    # a task that failed is reported in a sentence; its traceback is for who asks for logs
    logging.getLogger("acclock").addHandler(logging.NullHandler())
    desk = open_desk(vault, database, model)
    chosen, ward = desk.model_of(name, asked=model), Ward(desk, name)
    chosen.model.card.require_sampled(heard.rate_hz)
    _complain(chosen.sentence)
    watched: list[Monitor] = []
    with ExitStack() as stack:
        view = LiveView(Console(), lambda: _count(watched, heard)) if shown else None
        post = Post(
            ward=ward,
            source=heard,
            policy=policy_named(policy).opened_by(entry.value),
            sinks=[parse_sink(text, home=home) for text in outputs],
            hearers=[view] if view else [],
            home=home,
            socket=socket or default_socket(),
            report=view.report if view else _complain,
        )
        if view:
            stack.enter_context(view)
        caught = asyncio.run(post.keep(for_s=for_s, on_ready=watched.append))
    raise typer.Exit(130 if caught is signal.SIGINT else 0)


def _count(watched: list["Monitor"], source: Source) -> Mapping[str, int]:
    """Give what went wrong so far with samples, with whatever brings them, and with the tasks."""
    samples = asdict(watched[0].counts) if watched else {}
    samples.pop("accepted", None)
    failures = {
        f"failed {name}": times for one in watched for name, times in one.task_failures.items()
    }
    return samples | dict(source.faults) | failures


def _complain(trouble: str) -> None:
    print(f"acclock: {trouble}", file=sys.stderr)
