"""The clean heartbeat, as an earphone would feel it were there nothing else."""

from dataclasses import dataclass, replace

import numpy as np

from acclock.simulation.anatomy import CLOCK_HZ, CLOCK_S, DEFLECTIONS, J, find_turns, hasten
from acclock.simulation.mounting import Mounting
from acclock.simulation.people import Person
from acclock.simulation.rhythm import Rhythm
from acclock.simulation.scenes import EARPHONES, Earphone, Scene
from acclock.simulation.waves import ComplexArray, Waves, draw_beat, pass_through, resonate
from acclock.values import FloatArray

_REACH_WIDTHS = 5.0
"""How far from its center a wave is felt, in widths."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pulse:
    """One beat of one person in one mounting, and all that it passes through."""

    waves: Waves
    resonance_hz: float
    damping: float
    earphone: Earphone
    delay_s: float = 0.0
    """By which J comes late out of the path; taken off, so that J lies where it is said to."""

    def respond(self, frequencies_hz: FloatArray) -> ComplexArray:
        path = resonate(frequencies_hz, resonance_hz=self.resonance_hz, damping=self.damping)
        sooner = np.exp(2j * np.pi * frequencies_hz * self.delay_s)
        return np.asarray(path * sooner * self.earphone.respond(frequencies_hz))


def shape_pulse(person: Person, mounting: Mounting, scene: Scene, period_s: float) -> Pulse:
    """Put the beat of a person through this mounting of this device."""
    waves = hasten(person.anatomy.waves, period_s)
    pulse = Pulse(
        waves=Waves(
            waves.times_s + mounting.delays_s,
            waves.widths_s,
            waves.sizes * mounting.strengths * mounting.gain,
        ),
        resonance_hz=person.anatomy.resonance_hz * mounting.stiffness,
        damping=person.anatomy.damping * mounting.softness,
        earphone=EARPHONES[scene.device],
    )
    return replace(pulse, delay_s=float(locate_turns(pulse)[J]))


def locate_turns(pulse: Pulse) -> FloatArray:
    """Give the times after J's wave at which H to N turn on the vertical axis."""
    beat = pass_through(draw_beat(pulse.waves, CLOCK_S)[0], pulse.respond, CLOCK_HZ)
    return CLOCK_S[find_turns(beat, pulse.waves.times_s[: len(DEFLECTIONS)])]


def render(pulse: Pulse, rhythm: Rhythm, *, count: int, rate_hz: float) -> FloatArray:
    """Sum the beats of a rhythm into acceleration of the head's three axes: ``(3, count)``."""
    felt = np.zeros((3, count))
    waves = zip(pulse.waves.times_s, pulse.waves.widths_s, strict=True)
    for wave, (time_s, width_s) in enumerate(waves):
        centers = (rhythm.times_s + time_s + rhythm.delays_s[:, wave]) * rate_hz
        reach = int(_REACH_WIDTHS * width_s * rate_hz) + 1
        places = np.rint(centers).astype(np.intp)[:, None] + np.arange(-reach, reach + 1)
        late = (places - centers[:, None]) / (width_s * rate_hz)
        bells = rhythm.strengths[:, [wave]] * np.exp(-0.5 * late**2)
        inside = (places >= 0) & (places < count)
        line = np.bincount(places[inside], weights=bells[inside], minlength=count)
        felt += pulse.waves.sizes[:, [wave]] * line
    return pass_through(felt, pulse.respond, rate_hz)
