import numpy as np
import pytest

from acclock.errors import ConfigError, UnreadableError
from acclock.pipeline import Preparation, prepare, prepare_contexts
from acclock.simulation import Scene, draw_person, simulate
from acclock.training.batches import cut_context
from acclock.training.grid import bring_to, fingerprint, lay_grid, name_grid, pack_grid, unpack_grid
from acclock.values import Recording


@pytest.fixture(scope="module")
def worn() -> Recording:
    return simulate(draw_person(5), Scene(duration_s=40.0, packet_loss=0.05)).recording


@pytest.mark.parametrize("rate_hz", [100.0, 75.0, 50.0, 25.0])
def test_contexts_are_prepared_as_the_stream_prepares_them(worn: Recording, rate_hz: float) -> None:
    recording = bring_to(worn, rate_hz)
    preparation = Preparation(name="bandpass", rate_hz=rate_hz)
    streamed = prepare(recording, preparation, step_s=4.0)

    cuts = [
        cut_context(recording, round(one.end_s * rate_hz), preparation.config.context_length)
        for one in streamed
    ]
    windows = prepare_contexts(
        np.stack([samples for samples, _ in cuts]), np.stack([got for _, got in cuts]), preparation
    )

    expected = np.stack([one.samples for one in streamed]).astype(np.float32)
    np.testing.assert_allclose(windows, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["two-stage", "paper"])
def test_both_stages_are_gone_through(worn: Recording, name: str) -> None:
    preparation = Preparation(name=name)  # type: ignore[arg-type]
    (first,) = prepare(
        Recording(samples=worn.samples[:, :400], received=worn.received[:400], rate_hz=100.0),
        preparation,
    )

    samples, received = cut_context(worn, 400, preparation.config.context_length)
    window = prepare_contexts(samples[np.newaxis], received[np.newaxis], preparation)[0]

    np.testing.assert_allclose(window, first.samples, atol=1e-5)


def test_a_grid_holds_the_usable_windows_end_to_end(worn: Recording) -> None:
    preparation = Preparation(name="bandpass")

    grid = lay_grid(worn, preparation)

    assert len(grid) == 9  # of ten, the first is still warming up
    assert (np.diff(grid.ends) == 400).all()
    back = unpack_grid(pack_grid(grid))
    np.testing.assert_array_equal(back.windows, grid.windows)
    np.testing.assert_array_equal(back.ends, grid.ends)


def test_a_grid_has_another_name_for_another_sample_or_setting(worn: Recording) -> None:
    samples = worn.samples.copy()
    samples[0, int(np.flatnonzero(worn.received)[7])] += 1e-9
    touched = Recording(samples=samples, received=worn.received, rate_hz=100.0)
    names = [
        name_grid(worn, Preparation(name="bandpass")),
        name_grid(worn, Preparation(name="paper")),
        name_grid(touched, Preparation(name="bandpass")),
    ]

    assert len(set(names)) == 3
    assert names[0] == name_grid(worn, Preparation(name="bandpass"))
    assert fingerprint(Preparation(rate_hz=50.0)) != fingerprint(Preparation(rate_hz=100.0))


def test_damaged_windows_are_refused_in_a_sentence() -> None:
    with pytest.raises(UnreadableError, match="not the windows"):
        unpack_grid(b"nothing of the kind")


@pytest.mark.paper("Sec. 7.4.8")
def test_lower_rates_are_made_as_the_paper_made_them() -> None:
    seconds = np.arange(2000) / 100.0
    tone = np.sin(2 * np.pi * 30.0 * seconds)
    recording = Recording(samples=np.tile(tone, (3, 1)), rate_hz=100.0)

    direct, filtered = bring_to(recording, 50.0), bring_to(recording, 75.0)

    np.testing.assert_array_equal(direct.samples, recording.samples[:, ::2])
    expected = np.sin(2 * np.pi * 30.0 * np.arange(1500) / 75.0)
    assert len(filtered) == 1500
    np.testing.assert_allclose(filtered.samples[0, 100:-100], expected[100:-100], atol=0.02)
    with pytest.raises(ConfigError, match="thinned"):
        bring_to(direct, 100.0)
