import numpy as np
import pytest

from acclock.denoising.beats import AverageBeat, average_beat, find_beats
from acclock.denoising.fiducials import find_fiducials
from acclock.errors import SignalError

TIMES_S = np.arange(-0.25, 0.45, 0.005)
TURNS_S = {"H": -0.12, "I": -0.06, "J": 0.0, "K": 0.06, "L": 0.125}


def make_beat(sign: float = 1.0) -> AverageBeat:
    """Give a beat whose deflections lie at known times."""
    sizes = {"H": 0.4, "I": -0.6, "J": 1.0, "K": -0.7, "L": 0.5}
    waveform = sum(
        size * np.exp(-(((TIMES_S - TURNS_S[name]) / 0.022) ** 2)) for name, size in sizes.items()
    )
    return AverageBeat(TIMES_S, sign * np.asarray(waveform), 1, 1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_deflections_are_found_where_they_were_put_whichever_way_j_points(sign: float) -> None:
    found = find_fiducials(make_beat(sign)).points

    for name, time_s in TURNS_S.items():
        point = found[name]  # type: ignore[index]
        assert point is not None
        assert point.offset_ms == pytest.approx(1000 * time_s, abs=8.0)
    assert np.sign(found["J"].amplitude) == sign  # type: ignore[union-attr]


def test_a_flat_beat_is_refused() -> None:
    with pytest.raises(SignalError, match="flat"):
        find_fiducials(AverageBeat(TIMES_S, np.zeros_like(TIMES_S), 1, 1.0))


def test_no_beat_is_found_in_silence_and_none_can_be_averaged() -> None:
    silence = np.zeros(2000)

    assert find_beats(silence, 100.0).size == 0
    with pytest.raises(SignalError, match="no whole beat"):
        average_beat(silence, np.empty(0), 100.0)


def test_noise_has_no_beats() -> None:
    chance = np.random.default_rng(4)
    found = [find_beats(chance.normal(size=6000), 100.0).size for _ in range(5)]

    assert found.count(0) >= 4


def test_the_average_of_equal_beats_is_the_beat() -> None:
    period = np.tile(np.interp(np.arange(-0.3, 0.5, 0.01), TIMES_S, make_beat().waveform), 20)
    beats_s = np.linspace(0.3, 0.3 + 0.8 * 19, 20)

    averaged = average_beat(period, beats_s, 100.0)

    assert averaged.clarity > 0.999
    assert averaged.count >= 18
