"""A stream opens by a grant, stays open for its user, and locks for anybody else."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from acclock.live.chunks import Break, Chunk
from acclock.live.policies import BALANCED
from acclock.service.metrics import Metrics
from acclock.service.service import Service
from acclock.service.streams.batches import Batcher
from acclock.service.streams.joining import StreamRequest, prepare
from acclock.service.streams.snapshots import show
from acclock.service.streams.stream_session import StreamSession
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.service.conftest import Running


@lru_cache
def _worn(person: int) -> FloatArray:
    """Give a minute of somebody in a later session than they were enrolled in."""
    return simulate(draw_person(person), Scene(duration_s=60.0, session=1)).recording.samples


class Played:
    """A session that is fed faster than life: its clock is the samples' own."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        person = service.recognizer.vault.person("anna")
        wanted = StreamRequest(policy=BALANCED, traced=True)
        self.stream_session: StreamSession = prepare(service, person, wanted, lambda *_: None)
        # whose heart it is, is the model's to tell; here it is known
        self._centers = [service.recognizer.vault.template(name).center for name in ("anna", "ben")]
        self.stream_session.embed = lambda windows: np.stack(
            [self._centers[self._wearer]] * len(windows)
        )
        self._batcher = Batcher(metrics=Metrics(), guard=lambda _: nullcontext())
        self._wearer = 0
        self.now_s = 100.0
        self._worn_s = {0: 0.0, 1: 0.0}
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)

    def wear(self, person: int, *, seconds: float) -> Iterator[str]:
        """Let somebody wear it on; who wears it again goes on where they were."""
        samples, begin = _worn(person), self._worn_s[person]
        self._worn_s[person] += seconds
        self._wearer = person
        for start in range(round(100 * begin), round(100 * (begin + seconds)), 50):
            self.now_s += 0.5
            stamps_s = self.now_s - 0.5 + np.arange(50) / 100
            part = samples[:, start : start + 50]
            self.hear(Chunk(samples=part, stamps_s=stamps_s, received_s=self.now_s))
            yield self.stream_session.snapshot.state

    def hear(self, piece: Chunk | Break) -> None:
        self._batcher.work([(self.stream_session, piece)])


@pytest.fixture
def played(running: "Running", monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(running.service, monkeypatch)


def settle(played: Played) -> None:
    for _ in played.wear(0, seconds=12.0):
        pass
    played.stream_session.grant(3600.0)


def test_nothing_opens_without_a_grant_and_a_grant_opens_what_is_worn(played: Played) -> None:
    before = set(played.wear(0, seconds=12.0))
    played.stream_session.grant(3600.0)
    after = set(played.wear(0, seconds=30.0))

    assert before == {"locked"}
    assert after == {"unlocked"}
    assert played.stream_session.snapshot.confidence == "high"


def test_another_wearer_locks_it(played: Played) -> None:
    settle(played)
    own = list(played.wear(0, seconds=30.0))

    other = list(played.wear(1, seconds=40.0))

    assert own[-1] == "unlocked"
    assert other[-1] == "locked"


@pytest.mark.parametrize(
    "end",
    [
        lambda played: played.hear(Break(reason="removed", received_s=played.now_s)),
        lambda played: played.stream_session.lock(played.now_s),
        lambda played: played.stream_session.tick(played.now_s + 1.5),
        lambda played: played.stream_session.forget(),
    ],
    ids=["removed", "overload", "silence", "deleted"],
)
def test_whatever_ends_a_wearing_locks_it_at_once(
    played: Played, end: Callable[[Played], None]
) -> None:
    settle(played)
    opened = played.stream_session.snapshot.state

    end(played)

    assert (opened, played.stream_session.snapshot.state) == ("unlocked", "locked")
    assert {"type": "change", "kind": "locked"} in played.stream_session.news


def test_every_window_is_told_with_the_time_of_its_samples(played: Played) -> None:
    list(played.wear(0, seconds=12.0))

    heard = [one["heard_s"] for one in played.stream_session.news if one["type"] == "decision"]

    assert len(heard) == len(set(heard)) >= 14
    np.testing.assert_allclose(np.diff(heard), 0.5)


def test_a_window_is_told_with_the_time_of_its_samples_though_time_has_passed(
    played: Played,
) -> None:
    list(played.wear(0, seconds=12.0))
    played.stream_session.news = []

    played.stream_session.tick(played.now_s + 0.55)
    (_,) = played.wear(0, seconds=0.5)

    told = [one["heard_s"] for one in played.stream_session.news if one["type"] == "decision"]
    assert told == [played.now_s]


def test_a_trace_shows_the_samples_before_and_after(played: Played) -> None:
    list(played.wear(0, seconds=12.0))

    traces = [one for one in played.stream_session.news if one["type"] == "trace"]

    assert traces[0]["clean"] is None
    assert len(traces[-1]["raw"]) == len(traces[-1]["clean"]) == 50


def test_each_role_sees_what_it_may(played: Played) -> None:
    settle(played)

    seen = {
        role: set(show(played.stream_session.snapshot, role))
        for role in ("relying-party", "device", "viewer", "operator")
    }

    assert "heart_rate_bpm" not in seen["relying-party"]
    assert seen["device"] == seen["viewer"]
    assert seen["operator"] - seen["viewer"] == {"nats", "lockout_s"}
