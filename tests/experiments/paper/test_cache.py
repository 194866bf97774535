"""What is made once and taken as it was made."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from acclock.experiments.paper import cache as kept
from acclock.experiments.paper import encoders
from acclock.experiments.paper import encoders as encoders_module
from acclock.experiments.paper.cache import (
    NO_CACHE,
    Cache,
    Piece,
    cut,
    cut_once,
    cut_windows,
    digest,
    lose,
)
from acclock.experiments.paper.units import Unit, do
from acclock.pipeline import Preparation
from acclock.simulation import Scene, draw_person, simulate

BANDPASS = Preparation(name="bandpass")
WORN = simulate(draw_person(0, seed=3), Scene(duration_s=24.0)).recording


def refuse(*_: object, **__: object) -> Piece:
    raise AssertionError("this was made before")


def test_windows_are_cut_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cut_once(WORN, BANDPASS, cache=Cache(tmp_path), session=1)
    monkeypatch.setattr(kept, "cut", refuse)

    again = cut_once(WORN, BANDPASS, cache=Cache(tmp_path), session=2)

    np.testing.assert_array_equal(again.windows, first.windows)
    np.testing.assert_array_equal(again.usable, first.usable)
    np.testing.assert_array_equal(again.faultless, first.faultless)
    assert (first.session, again.session) == (1, 2)


@pytest.mark.parametrize(
    "other",
    [replace(BANDPASS, window_s=2.0), replace(BANDPASS, rate_hz=50.0), Preparation(name="paper")],
)
def test_another_preparation_is_another_file(tmp_path: Path, other: Preparation) -> None:
    cut_once(WORN, BANDPASS, cache=Cache(tmp_path))

    found = cut_once(WORN, other, cache=Cache(tmp_path))

    np.testing.assert_array_equal(found.windows, cut(WORN, other).windows)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("lost", [0.0, 0.3])
@pytest.mark.parametrize(
    "preparation", [BANDPASS, replace(BANDPASS, window_s=3.0), Preparation(name="paper")]
)
def test_windows_that_nobody_judges_are_the_same(preparation: Preparation, lost: float) -> None:
    recording = lose(WORN, lost, np.random.default_rng(0))

    windows = cut_windows(recording, preparation)

    np.testing.assert_allclose(windows, cut(recording, preparation).windows, atol=1e-6)


def test_without_a_folder_nothing_is_kept() -> None:
    NO_CACHE.keep("name", b"bytes")

    assert NO_CACHE.find("name") is None


def test_parts_run_into_each_other_nowhere() -> None:
    assert digest([b"ab", b"c"]) != digest([b"a", b"bc"])


def test_an_encoder_is_trained_once_and_gives_the_same_rates(
    make_unit: Callable[..., Unit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = make_unit("users", "still")
    unit = replace(unit, cohort=replace(unit.cohort, cache=Cache(tmp_path)))
    first = do(unit)
    for shared in (encoders.train_encoder, encoders.cut_members, encoders.embed_member):
        shared.cache_clear()
    monkeypatch.setattr(encoders_module, "Run", refuse)
    monkeypatch.setattr(kept, "cut", refuse)

    assert do(unit) == first
    assert {file.suffix for file in tmp_path.iterdir()} == {".npz", ".safetensors"}
