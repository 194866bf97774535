"""A person and a scene in, a recording and its truth out."""

from dataclasses import dataclass

import numpy as np

from acclock.simulation.disturbances import (
    MOTIONS,
    feel_gravity,
    handle,
    play_music,
    stand_in,
    sway,
    wear,
)
from acclock.simulation.mounting import Mounting, mount
from acclock.simulation.people import Person
from acclock.simulation.pulses import locate_turns, render, shape_pulse
from acclock.simulation.rhythm import beat
from acclock.simulation.scenes import EARPHONES, Scene
from acclock.simulation.streams import stream
from acclock.simulation.waves import ComplexArray, pass_through
from acclock.values import BoolArray, FloatArray, Recording

_EDGE = 0.48
"""Where a device begins to cut off, as a share of its rate, before it samples."""
_ORDER = 8
_LEAST_RATE_HZ = 100.0
"""Everything happens at this rate at least, and is sampled down: the heart is faster than 25 Hz."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulated:
    """A recording, with everything that is known about it because it was made."""

    recording: Recording
    """What the device delivers: gravity and all disturbances included."""
    truth: FloatArray
    """The heartbeat alone, on the same clock and axes: shape ``(3, n)``."""
    disturbance: FloatArray
    """All the rest. Where samples were received, the recording is the sum of the two."""
    beat_times_s: FloatArray
    """When J comes on the head's vertical axis."""
    fiducial_times_s: FloatArray
    """When H, I, J, K, L, M, N come: shape ``(beats, 7)``."""


def simulate(person: Person, scene: Scene, *, seed: int = 0) -> Simulated:
    """Let a person live through a scene, and record it.

    The same arguments give the same recording. Another ``seed`` gives other noise, other moments
    and another rhythm of the same heart in the same mounting; another ``scene.session`` gives
    another mounting. The recording holds gravity, as a raw accelerometer does.

    >>> from acclock.simulation import draw_person
    >>> simulated = simulate(draw_person(0), Scene(duration_s=10.0))
    >>> simulated.recording.samples.shape, simulated.fiducial_times_s.shape[1]
    ((3, 1000), 7)
    """
    factor = int(np.ceil(_LEAST_RATE_HZ / scene.sampling_hz))
    count, rate_hz = factor * scene.count, factor * scene.sampling_hz
    mounting = mount(person, scene)
    rhythm = beat(person, scene, _chance("rhythm", person, scene, seed))
    pulse = shape_pulse(person, mounting, scene, rhythm.period_s)
    worn = wear(scene, count, rate_hz)
    heart = worn * (mounting.rotation @ render(pulse, rhythm, count=count, rate_hz=rate_hz))
    shaken = worn * _shake(person, scene, mounting, seed, rate_hz)
    truth, shaking = _sample(np.stack([heart, shaken]), factor, rate_hz)
    disturbance = shaking + _stay_behind(person, scene, mounting, seed)
    end_s = scene.duration_s if scene.removed_at_s is None else scene.removed_at_s
    whole = (rhythm.times_s >= 0) & (rhythm.times_s < end_s)
    turns_s = rhythm.times_s[:, None] + locate_turns(pulse) + rhythm.delays_s[:, :7]
    return Simulated(
        recording=_record(person, scene, truth + disturbance, seed),
        truth=truth,
        disturbance=disturbance,
        beat_times_s=rhythm.times_s[whole],
        fiducial_times_s=turns_s[whole],
    )


def _chance(name: str, person: Person, scene: Scene, seed: int) -> np.random.Generator:
    return stream(name, seed, person.seed, person.index, scene.session)


def _shake(
    person: Person, scene: Scene, mounting: Mounting, seed: int, rate_hz: float
) -> FloatArray:
    """Give what shakes an earphone while it is worn, along its own axes."""
    count = round(scene.duration_s * rate_hz)
    move = MOTIONS["still" if scene.motion is not None else scene.movement]
    head = sway(person, scene.posture, _chance("sway", person, scene, seed), count, rate_hz)
    head += move(_chance("movement", person, scene, seed), count, rate_hz)
    head += stand_in(scene.environment, _chance("environment", person, scene, seed), count, rate_hz)
    felt = mounting.rotation @ pass_through(head, EARPHONES[scene.device].respond, rate_hz)
    return felt + play_music(scene.music, _chance("music", person, scene, seed), count, rate_hz)


def _stay_behind(person: Person, scene: Scene, mounting: Mounting, seed: int) -> FloatArray:
    """Give what does not come from the head or may go on without it: gravity, hands and hiss."""
    gravity = mounting.rotation @ feel_gravity(scene.posture)
    held = handle(scene, gravity, _chance("removal", person, scene, seed))
    noise = EARPHONES[scene.device].noise_at(scene.sampling_hz)
    held += noise * _chance("noise", person, scene, seed).standard_normal(held.shape)
    if scene.motion is not None:
        held += scene.motion[:, : scene.count] * wear(scene, scene.count, scene.sampling_hz)
    return held


def _sample(signals: FloatArray, factor: int, rate_hz: float) -> FloatArray:
    """Keep one sample in ``factor``, without what would fold into the band."""
    if factor == 1:
        return signals

    def respond(frequencies_hz: FloatArray) -> ComplexArray:
        edge_hz = _EDGE * rate_hz / factor
        return 1.0 / (1.0 + (frequencies_hz / edge_hz) ** _ORDER).astype(np.complex128)

    return pass_through(signals, respond, rate_hz)[..., ::factor]


def _record(person: Person, scene: Scene, samples: FloatArray, seed: int) -> Recording:
    return Recording(
        samples=samples,
        rate_hz=scene.sampling_hz,
        received=_receive(scene, _chance("radio", person, scene, seed)),
        person=person.name,
        session=str(scene.session),
        device=scene.device,
        ear=scene.ear,
        labels={
            "condition": person.condition,
            "posture": scene.posture,
            "movement": scene.movement,
            "music": scene.music,
            "environment": scene.environment,
            "week": f"{scene.week:g}",
            "angle_deg": f"{scene.angle_deg:g}",
        },
    )


def _receive(scene: Scene, chance: np.random.Generator) -> BoolArray:
    """Lose whole packets."""
    samples = EARPHONES[scene.device].packet_samples
    lost = chance.random(-(-scene.count // samples)) < scene.packet_loss
    return ~np.repeat(lost, samples)[: scene.count]
