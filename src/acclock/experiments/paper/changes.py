"""Recordings of people at rest, changed as a scene would have changed them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from acclock.simulation.mounting import turn
from acclock.training.rates import RECORDED_HZ
from acclock.values import FloatArray, Recording
from acclock.world.places import open_place

ACTIVITIES = {"head-shake": "moving head or body", "walk": "walking", "run": "running"}
"""A scene's movement -> what people did whose heads were recorded."""


def change(
    recording: Recording,
    scene: Mapping[str, str | float],
    *,
    motions: Path | None,
    chance: np.random.Generator,
) -> Recording:
    """Give the recording with its axes turned, or with the motion of somebody's head on top.

    The motion is added as it was recorded; where the data set has too little of it in one piece,
    other pieces follow.
    """
    samples = recording.samples
    if angle := scene.get("angle_deg"):
        samples = turn(np.array([0.0, 0.0, float(angle)])) @ samples
    activity = ACTIVITIES.get(str(scene.get("movement")))
    if activity and motions is not None:
        samples = samples + _draw_motion(read_motions(motions, activity), len(recording), chance)
    return replace(recording, samples=samples)


@lru_cache(maxsize=4)
def read_motions(path: Path, activity: str) -> tuple[FloatArray, ...]:
    """Give how heads moved in an activity, without gravity."""
    place = open_place(
        f"{path}#activity={activity}", rate_hz=RECORDED_HZ, on_progress=lambda *_: None
    )
    whole = [one.samples[:, one.received] for one in place.recordings]
    return tuple(one - np.median(one, axis=1, keepdims=True) for one in whole)


def _draw_motion(
    motions: tuple[FloatArray, ...], length: int, chance: np.random.Generator
) -> FloatArray:
    drawn: list[FloatArray] = []
    while sum(one.shape[1] for one in drawn) < length:
        drawn.append(motions[chance.integers(len(motions))])
    whole = np.concatenate(drawn, axis=1)
    begin = chance.integers(whole.shape[1] - length + 1)
    return np.asarray(whole[:, begin : begin + length])
