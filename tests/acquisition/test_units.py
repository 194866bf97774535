import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.acquisition.units import infer_scale, parse_unit, quietest_second
from acclock.errors import ConfigError, SignalError
from acclock.values import STANDARD_GRAVITY, FloatArray


def at_rest(length: float, motion: float = 0.02) -> FloatArray:
    generator = np.random.default_rng(0)
    return length * (np.array([[0.6], [0.0], [0.8]]) + motion * generator.normal(size=(3, 1000)))


@given(length=st.floats(1e-3, 1e5))
def test_a_unit_without_a_word_is_told_by_gravity_or_refused(length: float) -> None:
    known = {"g": 1.0, "m/s²": STANDARD_GRAVITY, "mg": 1000.0}

    try:
        scale = infer_scale(at_rest(length), override=None, stated=None, source="detected")
    except SignalError:
        assert all(abs(length / gravity - 1) > 0.18 for gravity in known.values())
        return

    assert abs(length / known[scale.unit] - 1) < 0.22
    assert scale.gravity
    assert scale.source == "detected"


@pytest.mark.parametrize(
    ("length", "stated", "override", "unit", "source", "gravity"),
    [
        (0.02, "m/s²", None, "m/s²", "header", False),
        (0.02, "m/s²", "g", "g", "override", False),
        (0.98, "m/s²", None, "m/s²", "header", False),
        (0.75, "g", None, "g", "header", True),
        (9.7, None, "m/s2", "m/s²", "override", True),
        (1010.0, None, None, "mg", "detected", True),
    ],
)
def test_the_word_of_the_caller_wins_over_that_of_the_file(
    length: float, stated: str | None, override: str | None, unit: str, source: str, gravity: bool
) -> None:
    scale = infer_scale(
        at_rest(length), override=override, stated=parse_unit(stated or ""), source="header"
    )

    assert (scale.unit, scale.source, scale.gravity) == (unit, source, gravity)


def test_a_unit_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="'furlong' is not a unit of acceleration"):
        infer_scale(at_rest(1.0), override="furlong", stated=None, source="detected")


def test_the_stillest_second_is_found() -> None:
    samples = np.random.default_rng(1).normal(size=(3, 500))
    samples[:, 200:300] *= 0.01

    assert quietest_second(samples, 100.0) == pytest.approx(0.01 * np.sqrt(3), rel=0.15)


@pytest.mark.parametrize("length", [0.75, 1.26, 7.3, 12.4, 750.0, 1260.0])
def test_a_length_that_gravity_does_not_have_tells_no_unit(length: float) -> None:
    with pytest.raises(SignalError, match="the unit cannot be told"):
        infer_scale(at_rest(length), override=None, stated=None, source="detected")


def test_values_that_look_like_another_unit_are_doubted() -> None:
    scale = infer_scale(at_rest(1.0), override=None, stated="m/s²", source="header")

    assert (scale.unit, scale.gravity, scale.doubt) == ("m/s²", False, "g")
