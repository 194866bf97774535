import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from acclock.errors import AccLockError
from acclock.sinks.parsing import lock_commands, parse_sink


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("jsonl:-", "jsonl:-"),
        ("on-lock:loginctl lock-session", "on-lock:loginctl"),
        ("on-unlock:true", "on-unlock:true"),
        ("exec:notify-send 'a b'", "exec:notify-send"),
        ("logind", "logind"),
        ("logind:all", "logind:all"),
        ("mqtt://broker", "mqtt://broker:1883"),
        ("mqtt://user:pass@broker:1884?prefix=ha", "mqtt://broker:1884"),
        ("mqtts://broker", "mqtt://broker:8883"),
        ("assert:/run/acclock.sock", "assert:/run/acclock.sock"),
    ],
)
def test_an_output_is_what_its_text_says(text: str, name: str, tmp_path: Path) -> None:
    assert parse_sink(text, home=tmp_path).name == name


def test_a_webhook_is_named_by_its_host_and_keeps_its_secrets_at_home(tmp_path: Path) -> None:
    async def make() -> str:
        text = (
            "webhook:https://idp.example/ssf?key=secret#iss=https://me.example&sub=anna@x.example"
        )
        return parse_sink(text, home=tmp_path).name

    assert asyncio.run(make()) == "webhook:idp.example"
    assert {path.name for path in tmp_path.iterdir()} == {"events.jwk", "unsent"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no output; write one of jsonl:- or jsonl:FILE"),
        ("printer", "is no output"),
        ("jsonl", "lacks its second half; write jsonl:- or"),
        ("jsonl:", "lacks its second half"),
        ("on-lock:", "lacks its second half"),
        ("exec:'open", "cannot be split"),
        ("logind:mine", "not 'mine'"),
        ("webhook:http://idp.example", "https:// only"),
        ("webhook:https://idp.example#key=1", "no option 'key'"),
        ("mqtt:broker", "a broker is written mqtt://"),
        ("mqtt://broker/topic", "a broker is written mqtt://"),
        ("mqtt://broker:port", "port is wrong"),
        ("mqtt://broker?topic=x", "no option 'topic'"),
        ("mqtt://broker?prefix=%23", "not a prefix"),
    ],
)
def test_what_is_no_output_is_refused_in_a_sentence(
    text: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(AccLockError, match=sentence):
        parse_sink(text, home=tmp_path)


def test_the_watchdog_is_given_the_commands_that_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_SESSION_ID", raising=False)
    texts = ["jsonl:-", "on-lock:lock it", "on-unlock:open it", "logind", "assert:/tmp/s"]

    commands = lock_commands(parse_sink(text, home=tmp_path) for text in texts)

    assert commands == [("lock", "it"), ("loginctl", "lock-session")]


def test_a_plain_output_loads_no_library_of_another() -> None:
    script = (
        "import sys; from acclock.sinks.parsing import parse_sink; parse_sink('jsonl:-');"
        "print([m for m in ('numpy', 'joserfc', 'aiomqtt', 'dbus_fast') if m in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603

    assert ran.stdout.strip() == "[]", ran.stderr
