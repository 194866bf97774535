"""People, sessions and disturbances that do not exist: a known truth to test against."""

from acclock.simulation.people import Condition, Person, draw_person
from acclock.simulation.scenes import Device, Environment, Movement, Music, Posture, Scene
from acclock.simulation.simulator import Simulated, simulate

__all__ = [
    "Condition",
    "Device",
    "Environment",
    "Movement",
    "Music",
    "Person",
    "Posture",
    "Scene",
    "Simulated",
    "draw_person",
    "simulate",
]
