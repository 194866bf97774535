"""Recordings and scripts play as if they were live."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.acquisition.live import LiveClock
from acclock.denoising.heart_rate import clearest_heartbeat
from acclock.errors import AccLockError, ConfigError
from acclock.live.chunks import Break, Chunk
from acclock.recordings import write
from acclock.simulation import Scene, draw_person, simulate
from acclock.sources import parse_source
from acclock.sources.replay import ReplaySource
from acclock.sources.simulator import SimulatorSource, name_person, parse_script
from acclock.values import Recording

if TYPE_CHECKING:
    from tests.sources.conftest import Listen


def is_over(heard: list[Chunk | Break]) -> bool:
    return isinstance(heard[-1], Break) and heard[-1].reason == "end"


def join(heard: list[Chunk | Break]) -> tuple[np.ndarray, np.ndarray]:
    chunks = [piece for piece in heard if isinstance(piece, Chunk)]
    stamps_s = np.concatenate([chunk.stamps_s for chunk in chunks])
    return stamps_s, np.concatenate([chunk.samples for chunk in chunks], axis=1)


def test_a_replay_is_the_recording_with_its_losses(listen: "Listen") -> None:
    scene = Scene(duration_s=10.0, packet_loss=0.2)
    recording = simulate(draw_person(0), scene).recording
    source = ReplaySource(recording, name="it", speed=float("inf"))

    heard = asyncio.run(listen(source, until=is_over))

    stamps_s, samples = join(heard)
    np.testing.assert_array_equal(samples, recording.samples[:, recording.received])
    np.testing.assert_allclose(stamps_s, np.flatnonzero(recording.received) / 100.0)
    lost = sum(piece.lost for piece in heard if isinstance(piece, Chunk))
    assert lost <= int((~recording.received).sum()) <= lost + 10


def test_a_replay_through_the_live_clock_is_the_recording(listen: "Listen") -> None:
    recording = simulate(draw_person(0), Scene(duration_s=10.0, packet_loss=0.1)).recording
    source = ReplaySource(recording, name="it", speed=float("inf"))
    clock = LiveClock(source_hz=source.rate_hz, rate_hz=100.0)

    spans = [
        span
        for piece in asyncio.run(listen(source, until=is_over))
        for span in (
            clock.push(piece.stamps_s, piece.samples, piece.received_s)
            if isinstance(piece, Chunk)
            else clock.finish()
        )
    ]

    samples = np.concatenate([span.samples for span in spans], axis=1)
    received = np.concatenate([span.received for span in spans])
    first = int(np.argmax(recording.received))
    whole = slice(first, first + received.size)
    np.testing.assert_array_equal(received, recording.received[whole])
    np.testing.assert_allclose(samples, recording.samples[:, whole], atol=1e-9)


@pytest.mark.parametrize("speed", [1.0, 20.0])
def test_time_passes_as_fast_as_it_was_asked_to(speed: float, listen: "Listen") -> None:
    recording = Recording(samples=np.ones((3, round(60 * speed))), rate_hz=100.0)
    source = ReplaySource(recording, name="it", speed=speed)

    begun_s = time.monotonic()
    heard = asyncio.run(listen(source, until=is_over))
    took_s = time.monotonic() - begun_s

    assert 0.6 <= took_s < 5.0
    span_s = heard[-2].received_s - heard[0].received_s
    assert span_s == pytest.approx(recording.duration_s - 0.1, abs=1.0 * speed)


def test_a_loop_goes_on_with_rising_stamps(listen: "Listen") -> None:
    recording = Recording(samples=np.ones((3, 150)), rate_hz=100.0)
    source = ReplaySource(recording, name="it", speed=float("inf"), loop=True)

    heard = asyncio.run(listen(source, until=lambda heard: len(heard) == 60))

    stamps_s, _ = join(heard)
    np.testing.assert_allclose(np.diff(stamps_s), 0.01)


def test_a_file_is_replayed_by_its_name(tmp_path: Path, listen: "Listen") -> None:
    recording = simulate(draw_person(0), Scene(duration_s=5.0)).recording
    write(recording, tmp_path / "session.npz")

    source = parse_source(f"replay:{tmp_path / 'session.npz'}?speed=max")
    heard = asyncio.run(listen(source, until=is_over))

    np.testing.assert_array_equal(join(heard)[1], recording.samples)


def test_a_script_lasts_as_long_as_it_says_and_happens_in_order(listen: "Listen") -> None:
    source = SimulatorSource(
        "wear anna 20 s, anna walks 10 s, remove 10 s, wear ben 20 s, lose 2 s, ben sits 8 s",
        speed=float("inf"),
    )

    stamps_s, samples = join(asyncio.run(listen(source, until=is_over)))

    def shaking(begin_s: float, end_s: float) -> float:
        inside = (stamps_s >= begin_s) & (stamps_s < end_s)
        return float(samples[:, inside].std(axis=1).max())

    assert stamps_s[-1] == pytest.approx(69.99)
    assert not ((stamps_s > 60.001) & (stamps_s < 61.99)).any()
    assert shaking(20.0, 30.0) > 3 * shaking(0.0, 20.0)
    assert shaking(30.2, 32.0) > 1.0
    assert shaking(33.0, 40.0) < 0.06
    assert shaking(40.2, 42.0) > 1.0
    assert 0.06 < shaking(43.0, 60.0) < 1.0


def test_the_heart_in_a_script_is_that_of_the_person_by_name() -> None:
    pieces = list(SimulatorSource("wear anna 60 s").pieces())

    assert isinstance(pieces[0], Recording)
    assert clearest_heartbeat(pieces[0]).rate.bpm == pytest.approx(
        name_person("anna").heart_rate_bpm, abs=6.0
    )


def test_a_long_wearing_is_drawn_in_pieces() -> None:
    pieces = SimulatorSource("wear anna 2 h").pieces()

    first = next(pieces)

    assert isinstance(first, Recording)
    assert first.duration_s <= 300.0


def test_a_disconnect_is_a_break_where_it_happens(listen: "Listen") -> None:
    source = SimulatorSource("wear anna 8 s, disconnect 3 s, wear anna 8 s", speed=float("inf"))

    heard = asyncio.run(listen(source, until=is_over))

    place = next(place for place, piece in enumerate(heard) if isinstance(piece, Break))
    after = heard[place + 1]
    assert heard[place].received_s == pytest.approx(heard[0].received_s + 7.9)
    assert isinstance(after, Chunk)
    assert after.lost == 300


def test_a_stream_that_is_cancelled_ends_at_once() -> None:
    async def run() -> float:
        source = SimulatorSource("wear anna 1 h")
        reading = asyncio.create_task(anext(source.stream()))
        await asyncio.sleep(0.05)
        reading.cancel()
        begun_s = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await reading
        return time.monotonic() - begun_s

    assert asyncio.run(run()) < 2.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("simulat:wear anna", "did you mean 'simulate:'?"),
        ("sensorlogger:http://x", "did you mean 'sensor-logger:'?"),
        ("nonsense", "there are replay, simulate"),
        ("replay:", "replay:session.npz"),
        ("replay:/no/such/file", "/no/such/file"),
        ("replay:a.npz?spede=3", "has no option spede"),
        ("simulate:wear anna?speed=fast", "speed is a number, not 'fast'"),
        ("simulate:wear anna?speed=0", "a speed is positive"),
        ("simulate:anna dances", "'anna dances' is not an act"),
        ("simulate:wear anna 1 s", "lasts from 6 s"),
        ("simulate:,", "at least one act"),
        ("ws://", "ws://127.0.0.1:8765"),
        ("ws://:x", "not an address"),
        ("ws-server:127.0.0.1:99999", "not host:port"),
        ("sensor-logger:ftp://x", "neither http://"),
        ("mqtt://host", "needs a host and a topic"),
        ("openearable:AA:BB?sensor=nose", "sensor is bone or imu, not 'nose'"),
        ("esense:AA:BB?rate=200", "1 to 100 Hz, not 200"),
    ],
)
def test_a_wrong_source_is_refused_with_a_sentence(text: str, says: str) -> None:
    with pytest.raises(AccLockError, match=says.replace("?", r"\?")) as refusal:
        parse_source(text)

    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "name", "rate_hz"),
    [
        ("simulate:wear anna?rate=50", "simulator", 50.0),
        ("ws://127.0.0.1:8765?rate=50", "ws://127.0.0.1:8765", 50.0),
        ("ws-server:127.0.0.1:8765", "ws-server:127.0.0.1:8765", 100.0),
        ("sensor-logger:http://0.0.0.0:8000", "sensor-logger:http://0.0.0.0:8000", 25.0),
        ("mqtt://host/a/topic", "mqtt://host:1883/a/topic", 25.0),
        ("openearable:AA:BB:CC:DD:EE:FF", "OpenEarable 2, bone", 100.0),
        ("openearable:AA:BB:CC:DD:EE:FF?sensor=imu", "OpenEarable 2, imu", 100.0),
        ("esense:AA:BB:CC:DD:EE:FF?rate=50", "eSense", 50.0),
    ],
)
def test_a_source_has_a_name_and_a_rate(text: str, name: str, rate_hz: float) -> None:
    source = parse_source(text)

    assert (source.name, source.rate_hz) == (name, rate_hz)


@pytest.mark.parametrize("kind", ["openearable:AA", "esense:AA"])
def test_without_bleak_one_sentence_says_what_to_install(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "acclock.sources.bleak_radio", None)
    monkeypatch.delitem(__import__("sys").modules, "acclock.sources.bleak_radio")
    monkeypatch.setitem(__import__("sys").modules, "bleak", None)

    with pytest.raises(AccLockError, match=r"pip install acclock\[ble\]"):
        parse_source(kind)


def test_an_act_without_a_duration_lasts_as_usual() -> None:
    acts = parse_script("wear anna, remove, anna shakes her head 30 sec, lose")

    assert [act.duration_s for act in acts] == [60.0, 10.0, 30.0, 3.0]
    assert acts[2].movement == "head-shake"


def test_a_script_needs_something_to_happen() -> None:
    with pytest.raises(ConfigError, match="at least one act"):
        parse_script(" , ")
