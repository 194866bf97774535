"""``acclock demo``: the main job, shown on people who do not exist."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from acclock.cli.show import JsonFlag, show
from acclock.values import FloatArray

if TYPE_CHECKING:
    from acclock.demo.demonstration import Story

Folder = Annotated[Path, typer.Option("--out", help="Where recordings and pictures go.")]
_SHOWN_S = 4.0
_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 80


def demo(
    *,
    out: Folder = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Other people.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Enroll a simulated wearer and watch over them: some steps, a table, a stranger, and back."""
    # loads the model's runtime and the database, which only commands that use them should
    from acclock.demo.demonstration import play

    if not as_json:
        print("Enrolling a simulated wearer, and watching over four minutes of their day ...")
    played = play(out, seed=seed)
    story = played.story
    if not as_json:
        rate_hz = played.recording.rate_hz
        shown = played.heartbeat.signal[: round(_SHOWN_S * rate_hz)]
        print(f"\nFour seconds in the ear:\n  {_draw_bars(shown, width=_WIDTH)}\n")
        print(f"{_draw_story(story)}\n")
    facts = {
        "heart_rate_bpm": round(played.heartbeat.rate.bpm, 1),
        "true_heart_rate_bpm": round(played.true_bpm, 1),
        "likeness_to_the_true_heartbeat_while_the_head_shakes": (
            f"{played.likeness_before:.2f} before, {played.likeness_after:.2f} after denoising"
        ),
        "enrolled_windows": played.good_windows,
        "the_same_person_in_a_later_session": played.user_again.decision,
        "another_person": played.stranger.decision,
        "open_after_s": _round(story.opened_after_s),
        "open_after_a_few_steps": story.open_after_the_walk,
        "paused_by_the_steps_s": _round(story.paused_by_the_walk_s),
        "locked_after_removal_s": _round(story.locked_after_s),
        "open_for_the_stranger_s": _round(story.open_for_the_stranger_s),
        "open_again_after_s": _round(story.opened_again_after_s),
        "pictures": [str(path) for path in played.pictures],
        "no_pictures": played.no_pictures,
    }
    show(facts, as_json=as_json)
    known = played.user_again.accepted and not played.stranger.accepted
    raise typer.Exit(0 if known and story.ends_well else 1)


def _round(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)


def _draw_bars(signal: FloatArray, *, width: int) -> str:
    """Draw a signal in one line of text, by how strong it is in each piece."""
    tops = np.array([np.abs(piece).max() for piece in np.array_split(signal, width)])
    levels = np.clip(tops / max(tops.max(), 1e-12) * len(_BARS), 0, len(_BARS) - 1)
    return "".join(_BARS[int(level)] for level in levels)


def _draw_story(story: "Story") -> str:
    """Draw what happened, when the session was open, and every change with its reason."""
    end_s = story.chapters[-1].end_s
    owner = story.chapters[0].act.person
    worn = ""
    for chapter in story.chapters:
        mark = "·" if not chapter.act.person else "o" if chapter.act.person == owner else "s"
        mark = mark if chapter.act.movement == "still" else "~"
        worn += mark * (round(chapter.end_s / end_s * _WIDTH) - len(worn))
    cells = np.linspace(0.0, end_s, _WIDTH + 1)
    ajar = [story.recorder.open_s(start, stop) for start, stop in pairwise(cells)]
    opened = "".join("█" if open_s > (end_s / _WIDTH) / 2 else "▁" for open_s in ajar)
    legend = "o the owner, ~ walking, s a stranger, · nobody"
    lines = [f"  worn  {worn}", f"  open  {opened}", f"        {legend}\n"]
    lines += [f"  {chapter.start_s:6.1f} s  {chapter.title}" for chapter in story.chapters]
    lines += [
        f"  {moment.at_s:6.1f} s    {moment.state.upper()}: {moment.status.reason}"
        for moment in story.recorder.changes()
    ]
    return "\n".join(lines[:3] + sorted(lines[3:]))
