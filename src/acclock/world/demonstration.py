"""The main job, played with people who do not exist."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from acclock.denoising.heartbeat import Heartbeat, clearest_heartbeat
from acclock.denoising.trace import Trace
from acclock.errors import MissingExtraError
from acclock.matching.verdict import Verdict
from acclock.pipeline import Preparation, trace
from acclock.simulation import Movement, Scene, draw_person, simulate
from acclock.simulation.simulator import Simulated
from acclock.values import FloatArray, Recording
from acclock.world.desk import Desk, open_desk
from acclock.world.files import read, write
from acclock.world.pictures import draw_recording, draw_trace
from acclock.world.story import Story, tell_story
from acclock.world.timelines import draw_timeline, write_page
from acclock.world.vault.keys import KeyFile
from acclock.world.vault.opening import open_vault

USER, STRANGER = 0, 1
_ENROLLED_S, _PROBED_S = 360.0, 60.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Demonstration:
    """What the demo showed."""

    recording: Recording
    heartbeat: Heartbeat
    true_bpm: float
    likeness_before: float
    """Correlation with the true heartbeat while the head shakes, only band-passed."""
    likeness_after: float
    """The same after both stages of denoising."""
    good_windows: int
    user_again: Verdict
    """About the enrolled person, in a later session."""
    stranger: Verdict
    story: Story
    """The same two people and one earphone, live."""
    pictures: tuple[Path, ...]
    no_pictures: str | None
    """Why none were drawn; nothing else needs what draws them."""


def play(folder: Path, *, seed: int) -> Demonstration:
    """Enroll a simulated person, meet them again, and meet somebody else.

    Pictures of it are drawn where matplotlib is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    user, stranger = USER + 2 * seed, STRANGER + 2 * seed
    first = _wear(user, seed, duration_s=_ENROLLED_S)
    write(first.recording, folder / "user.npz")
    recording = read(folder / "user.npz")
    heartbeat = clearest_heartbeat(recording)
    shaken = _wear(user, seed, movement="head-shake")
    stages = trace(shaken.recording, Preparation())
    before, after = _compare(stages, shaken.truth)
    with open_vault(folder / "vault", key_store=KeyFile(folder / "vault.key")) as vault:
        desk = open_desk(vault)
        windows = _enroll(desk, recording)
        again = desk.verify("user", _wear(user, seed, session=1).recording)
        other = desk.verify("user", _wear(stranger, seed).recording)
        story = tell_story(desk, "user", owner=f"{user}", stranger=f"{stranger}", seed=seed)
    try:
        pictures, missing = _draw(folder, recording, heartbeat, stages, story), None
    except MissingExtraError as refusal:
        pictures, missing = (), str(refusal)
    return Demonstration(
        recording=recording,
        heartbeat=heartbeat,
        true_bpm=60.0 / float(np.diff(first.beat_times_s).mean()),
        likeness_before=before,
        likeness_after=after,
        good_windows=windows,
        user_again=again,
        stranger=other,
        story=story,
        pictures=pictures,
        no_pictures=missing,
    )


def _draw(
    folder: Path, recording: Recording, heartbeat: Heartbeat, stages: Trace, story: Story
) -> tuple[Path, ...]:
    names = ("heartbeat.png", "denoised.png", "timeline.png", "timeline.html")
    heart, denoised, timeline, page = (folder / name for name in names)
    draw_recording(recording, heartbeat, heart)
    draw_trace(stages, denoised)
    draw_timeline(story, timeline)
    write_page(story, page)
    return heart, denoised, timeline, page


def _enroll(desk: Desk, recording: Recording) -> int:
    """Enroll the user, also when an earlier demo did, and give the number of windows."""
    if any(person.name == "user" for person in desk.vault.people()):
        desk.vault.remove("user")
    desk.enroll("user", [recording])
    return desk.vault.template("user").windows


def _wear(
    person: int,
    seed: int,
    *,
    duration_s: float = _PROBED_S,
    session: int = 0,
    movement: Movement = "still",
) -> Simulated:
    scene = Scene(duration_s=duration_s, session=session, movement=movement)
    return simulate(draw_person(person), scene, seed=seed)


def _compare(stages: Trace, truth: FloatArray) -> tuple[float, float]:
    """Say how like the true heartbeat the signal was before denoising and after."""
    truth = truth[:, : stages.raw.shape[-1]]
    return _likeness(stages.wavelet, truth), _likeness(stages.recovered, truth)


def _likeness(signals: FloatArray, truth: FloatArray) -> float:
    pairs = zip(signals, truth, strict=True)
    return float(np.mean([np.corrcoef(signal, true)[0, 1] for signal, true in pairs]))
