"""Outputs as the user writes them: ``jsonl:-``, ``logind``, ``mqtt://host`` ..."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from acclock.errors import MissingExtraError, SinkError
from acclock.sinks.command import Command, split_command
from acclock.sinks.json_lines import JsonLines
from acclock.sinks.sink import Sink
from acclock.system.settings import home_folder

FORMS = {
    "jsonl": "jsonl:- or jsonl:FILE",
    "on-lock": "on-lock:COMMAND",
    "on-unlock": "on-unlock:COMMAND",
    "exec": "exec:COMMAND",
    "logind": "logind or logind:all",
    "webhook": "webhook:https://HOST/PATH",
    "mqtt": "mqtt://HOST:1883?prefix=homeassistant",
    "mqtts": "mqtts://HOST:8883",
    "assert": "assert:SOCKET",
}
"""How each kind of output is written."""


def parse_sink(text: str, *, home: Path | None = None) -> Sink:
    """Give the output that a text names; ``home`` is where keys and unsent events are kept.

    >>> parse_sink("on-lock:loginctl lock-session").name
    'on-lock:loginctl'
    """
    kind, _, rest = text.partition(":")
    if kind not in FORMS:
        raise SinkError(f"{text!r} is no output; write one of {', '.join(FORMS.values())}")
    if kind != "logind" and not rest:
        raise SinkError(f"{text!r} lacks its second half; write {FORMS[kind]}")
    if kind in _KEEPING:
        return _KEEPING[kind](rest, home or home_folder())
    return _PLAIN[kind](rest)


def lock_commands(sinks: Iterable[Sink]) -> list[tuple[str, ...]]:
    """Give the commands that lock what these outputs lock, for the watchdog to run.

    The other outputs need none: an assertion, an MQTT state and an event's session expire or are
    revoked without their process.
    """
    named = (getattr(sink, "lock_command", ()) for sink in sinks)
    return [tuple(command) for command in named if command]


def _json_lines(rest: str) -> Sink:
    return JsonLines(None if rest == "-" else Path(rest).expanduser())


def _on_lock(rest: str) -> Sink:
    words = split_command(rest)
    return Command(on_lock=words, name=f"on-lock:{words[0]}")


def _on_unlock(rest: str) -> Sink:
    words = split_command(rest)
    return Command(on_unlock=words, name=f"on-unlock:{words[0]}")


def _exec(rest: str) -> Sink:
    words = split_command(rest)
    return Command(on_lock=words, on_unlock=words, name=f"exec:{words[0]}")


def _logind(rest: str) -> Sink:
    # here and below: an output's library is loaded only for who asks for the output
    try:
        from acclock.sinks.logind import Logind
    except ModuleNotFoundError as error:
        raise SinkError("logind is Linux's; here, use on-lock:COMMAND") from error

    if rest not in ("", "all"):
        raise SinkError(f"logind locks this user's session or all, not {rest!r}")
    return Logind(everybody=rest == "all")


def _webhook(rest: str, home: Path) -> Sink:
    from acclock.access.signing_keys import signing_key
    from acclock.sinks.posting import checked_url
    from acclock.sinks.security_events import Addresses
    from acclock.sinks.webhook import Webhook

    url, _, fragment = rest.partition("#")
    parts, named = checked_url(url), _options(fragment, {"iss", "aud", "sub"})
    key = signing_key(home, "events")
    addresses = Addresses(
        issuer=named.get("iss", f"urn:acclock:{key.kid}"),
        audience=named.get("aud", f"{parts.scheme}://{parts.netloc}{parts.path}"),
        subject=named.get("sub"),
    )
    token = os.environ.get("ACCLOCK_WEBHOOK_TOKEN")
    return Webhook(url, key=key, folder=home / "unsent", addresses=addresses, token=token)


def _mqtt(parts: SplitResult) -> Sink:
    try:
        from acclock.sinks.mqtt import Broker, Mqtt
    except ModuleNotFoundError as error:
        raise MissingExtraError(package="aiomqtt", extra="mqtt") from error

    tls = parts.scheme == "mqtts"
    try:
        host, port = parts.hostname, parts.port or (8883 if tls else 1883)
    except ValueError as error:
        raise SinkError(f"the broker's port is wrong: {error}") from error
    if not host or parts.path not in ("", "/"):
        raise SinkError(f"a broker is written {FORMS['mqtt']}; topics are AccLock's own")
    broker = Broker(
        host=host,
        port=port,
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password)
        if parts.password
        else os.environ.get("ACCLOCK_MQTT_PASSWORD"),
        tls=tls,
        **_options(parts.query, {"prefix"}),
    )
    return Mqtt(broker)


def _assert(rest: str, home: Path) -> Sink:
    from acclock.access.signing_keys import signing_key
    from acclock.sinks.assertion import AssertionSink

    return AssertionSink(Path(rest).expanduser(), signing_key(home, "assertions"))


def _options(text: str, known: set[str]) -> dict[str, str]:
    named = {name: values[-1] for name, values in parse_qs(text).items()}
    if stray := sorted(set(named) - known):
        raise SinkError(f"there is no option {stray[0]!r} here, only {', '.join(sorted(known))}")
    return named


_PLAIN: dict[str, Callable[[str], Sink]] = {
    "jsonl": _json_lines,
    "on-lock": _on_lock,
    "on-unlock": _on_unlock,
    "exec": _exec,
    "logind": _logind,
    "mqtt": lambda rest: _mqtt(urlsplit(f"mqtt:{rest}")),
    "mqtts": lambda rest: _mqtt(urlsplit(f"mqtts:{rest}")),
}
_KEEPING: dict[str, Callable[[str, Path], Sink]] = {"webhook": _webhook, "assert": _assert}
"""Those that keep a key, or events, at home."""
