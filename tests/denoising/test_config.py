from typing import Any

import pytest

from acclock.denoising.config import DenoiseConfig
from acclock.errors import ConfigError


@pytest.mark.paper("Sec. 4.1.1 and 7.4.8")
@pytest.mark.parametrize(
    ("rate_hz", "levels", "dropped", "band", "context"),
    [
        (100.0, 6, {1}, "0.781-25 Hz", 2048),
        (75.0, 6, {1}, "0.586-18.75 Hz", 1536),
        (50.0, 5, set(), "0.781-25 Hz", 1024),
        (25.0, 4, set(), "0.781-12.5 Hz", 512),
        (200.0, 7, {1, 2}, "0.781-25 Hz", 4096),
    ],
)
def test_levels_follow_the_rate(
    rate_hz: float, levels: int, dropped: set[int], band: str, context: int
) -> None:
    config = DenoiseConfig.at_rate(rate_hz)

    assert config.levels == levels
    assert config.dropped_levels == dropped
    assert str(config.retained_band) == band
    assert config.context_length == context


def test_the_defaults_are_those_of_100_hz() -> None:
    assert DenoiseConfig() == DenoiseConfig.at_rate(100.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"levels": 0}, "levels must be at least 1"),
        ({"dropped_levels": frozenset({7})}, "cannot drop levels"),
        ({"levels": 1}, "leaves nothing"),
        ({"shrink_power": 0.0}, "shrink_power must be positive"),
        ({"motion_sensitivity": float("nan")}, "motion_sensitivity must be positive"),
        ({"least_forgetting": 1.5}, "at most 1"),
        ({"window_s": 15.0}, "does not hold two windows"),
        ({"window_s": 0.0}, "does not hold two windows"),
        ({"rate_hz": 0.0}, "20 to 1000 samples a second"),
        ({"rate_hz": float("nan")}, "20 to 1000 samples a second"),
        ({"rate_hz": float("inf")}, "20 to 1000 samples a second"),
        ({"recovery": "magic"}, "attenuation, paper, none"),
    ],
)
def test_nonsense_is_refused_when_the_config_is_made(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        DenoiseConfig(**wrong)


@pytest.mark.parametrize("rate_hz", [0.0, -5.0, 19.9, 1001.0, float("nan"), float("inf")])
def test_a_rate_at_which_no_heartbeat_can_be_had_is_refused(rate_hz: float) -> None:
    with pytest.raises(ConfigError, match="samples a second"):
        DenoiseConfig.at_rate(rate_hz)
