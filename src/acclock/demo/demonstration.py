"""The main job, played with people who do not exist, and the story of one earphone."""

import asyncio
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from pathlib import Path

import numpy as np

from acclock.denoising.heart_rate import Heartbeat, clearest_heartbeat
from acclock.denoising.stages import Trace
from acclock.errors import MissingExtraError
from acclock.live.policies import BALANCED
from acclock.matching.verdict import Verdict
from acclock.monitor.enrolled_user import EnrolledUser
from acclock.monitor.recorder import EventRecorder, record_events
from acclock.pipeline import Preparation, trace
from acclock.plots.recordings import draw_recording, draw_trace
from acclock.plots.timelines import draw_timeline, write_page
from acclock.recognizer import Recognizer, open_recognizer
from acclock.recordings import read, write
from acclock.simulation import Movement, Scene, draw_person, simulate
from acclock.simulation.simulator import Simulated
from acclock.sources.simulator import ScriptStep, SimulatorSource, parse_script
from acclock.values import FloatArray, Recording
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

_SCRIPT = (
    "wear {owner} 60 s, {owner} walks 8 s, {owner} sits 32 s, remove 10 s, "
    "wear {stranger} 60 s, remove 10 s, wear {owner} 60 s"
)
_TITLES = (
    "the owner puts it in",
    "walks a few steps",
    "sits down",
    "takes it out",
    "a stranger puts it in",
    "and out",
    "the owner again",
)
_OPENING, _WALK, _REST, _REMOVAL, _STRANGER, _, _RETURN = range(len(_TITLES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """What really happened, and when."""

    title: str
    act: ScriptStep
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Story:
    """What happened, and what the monitor told of it."""

    chapters: tuple[Chapter, ...]
    recorder: EventRecorder

    @property
    def opened_after_s(self) -> float | None:
        """How long the owner had to wear it until the session was open."""
        return self._opened_in(self.chapters[_OPENING])

    @property
    def opened_again_after_s(self) -> float | None:
        return self._opened_in(self.chapters[_RETURN])

    @property
    def paused_by_the_walk_s(self) -> float:
        """For how long the session was locked because nothing could be heard but steps."""
        walk, rest = self.chapters[_WALK], self.chapters[_REST]
        return rest.end_s - walk.start_s - self.recorder.open_s(walk.start_s, rest.end_s)

    @property
    def open_after_the_walk(self) -> bool:
        """Whether it was still open, or again by itself, when the owner took it out."""
        end_s = self.chapters[_REST].end_s
        return self.recorder.open_s(end_s - 1.0, end_s) > 0.99

    @property
    def locked_after_s(self) -> float | None:
        """How long after it was taken out of the ear the session was locked."""
        removal = self.chapters[_REMOVAL]
        for moment in self.recorder.changes():
            if moment.state == "locked" and removal.start_s <= moment.at_s < removal.end_s:
                return moment.at_s - removal.start_s
        return None

    @property
    def open_for_the_stranger_s(self) -> float:
        chapter = self.chapters[_STRANGER]
        return self.recorder.open_s(chapter.start_s, chapter.end_s)

    @property
    def ends_well(self) -> bool:
        """Whether the session was open for the owner, and for nobody else."""
        opened = self.opened_after_s is not None and self.opened_again_after_s is not None
        locked = self.locked_after_s is not None and not self.open_for_the_stranger_s
        return opened and locked and self.open_after_the_walk

    def _opened_in(self, chapter: Chapter) -> float | None:
        for moment in self.recorder.changes():
            if moment.state == "unlocked" and chapter.start_s <= moment.at_s < chapter.end_s:
                return moment.at_s - chapter.start_s
        return None


def play_story(recognizer: Recognizer, name: str, *, owner: str, stranger: str, seed: int) -> Story:
    """Let a monitor watch over an enrolled person while the story happens, as fast as it can.

    Sessions open by the heartbeat alone here, the paper's seamless entry: a choice that is off
    unless somebody makes it.
    """
    acts = parse_script(_SCRIPT.format(owner=owner, stranger=stranger))
    source = SimulatorSource(acts, speed=inf, seed=seed)
    recorder = asyncio.run(
        record_events(
            EnrolledUser(recognizer, name), source, policy=BALANCED.opened_by("heartbeat")
        )
    )
    return Story(chapters=_number(acts), recorder=recorder)


def _number(acts: tuple[ScriptStep, ...]) -> tuple[Chapter, ...]:
    ends_s = list(accumulate(act.duration_s for act in acts))
    return tuple(
        Chapter(title=title, act=act, start_s=end_s - act.duration_s, end_s=end_s)
        for title, act, end_s in zip(_TITLES, acts, ends_s, strict=True)
    )


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
        recognizer = open_recognizer(vault)
        windows = _enroll(recognizer, recording)
        again = recognizer.verify("user", _wear(user, seed, session=1).recording)
        other = recognizer.verify("user", _wear(stranger, seed).recording)
        story = play_story(recognizer, "user", owner=f"{user}", stranger=f"{stranger}", seed=seed)
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


def _enroll(recognizer: Recognizer, recording: Recording) -> int:
    """Enroll the user, also when an earlier demo did, and give the number of windows."""
    if any(person.name == "user" for person in recognizer.vault.people()):
        recognizer.vault.remove("user")
    recognizer.enroll("user", [recording])
    return recognizer.vault.template("user").windows


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
