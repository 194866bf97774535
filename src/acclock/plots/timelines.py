"""A story as a picture: who wore the earphone, when the session was open, what was heard."""

from __future__ import annotations

import html
import io
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from acclock.plots.recordings import new_figure, save
from acclock.system.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from acclock.demo.demonstration import Chapter, Story
    from acclock.monitor.recorder import EventRecorder

_OWNER, _STRANGER, _NOBODY = "#b2dfdb", "#ffccbc", "#eceff1"
_OPEN, _LOCKED = "#2e7d32", "#c62828"
_DECISIONS = {
    "accept": ("#2e7d32", "the user's"),
    "reject": ("#c62828", "not the user's"),
    "uncertain": ("#f9a825", "cannot tell"),
    "no_signal": ("#b0bec5", "not worn, or nothing"),
}

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>AccLock: a story of one earphone</title>
<style>body{{font:15px sans-serif;margin:2em auto;max-width:70em;color:#263238}}
svg{{width:100%;height:auto}}td{{padding:.15em 1em .15em 0}}</style>
<h1>A story of one earphone</h1>
<p>Everybody in it is simulated; the monitor is the real one.</p>
{picture}
<table>{rows}</table>
</html>
"""


def draw_timeline(story: Story, path: Path) -> None:
    """Draw what happened above what the monitor made of it."""
    save(_draw(story), path)


def write_page(story: Story, path: Path) -> None:
    """Write the same picture, with its events, as a page that needs nothing else."""
    drawn = io.StringIO()
    _draw(story).savefig(drawn, format="svg")
    picture = drawn.getvalue()
    rows = "".join(
        f"<tr><td>{moment.at_s:.1f} s<td>{moment.event.kind}<td>{html.escape(moment.status.reason)}"
        for moment in story.recorder.events
        if moment.event is not None
    )
    with replacing(path) as file:
        file.write(_PAGE.format(picture=picture[picture.index("<svg") :], rows=rows).encode())


def _draw(story: Story) -> Figure:
    figure = new_figure(11.0, 5.4)
    rows = figure.subplots(3, 1, sharex=True, height_ratios=(0.8, 1.0, 1.7))
    _draw_chapters(rows[0], story.chapters)
    _draw_state(rows[1], story.recorder, story.chapters[-1].end_s)
    _draw_windows(rows[2], story.recorder)
    for axes in rows:
        for chapter in story.chapters:
            axes.axvline(chapter.start_s, color="#90a4ae", linewidth=0.6, linestyle=":")
    rows[-1].set(xlim=(0.0, story.chapters[-1].end_s), xlabel="s")
    return figure


def _draw_chapters(axes: Axes, chapters: tuple[Chapter, ...]) -> None:
    owner = chapters[0].act.person
    for chapter in chapters:
        wearer = chapter.act.person
        color = _NOBODY if not wearer else _OWNER if wearer == owner else _STRANGER
        axes.axvspan(chapter.start_s, chapter.end_s, color=color, linewidth=0)
        middle_s, lasted_s = (chapter.start_s + chapter.end_s) / 2, chapter.end_s - chapter.start_s
        title = fill(chapter.title, max(4, round(lasted_s / 2)), break_long_words=False)
        axes.text(middle_s, 0.5, title, ha="center", va="center", size=8)
    axes.set(title="What happens (simulated)", yticks=[], ylim=(0.0, 1.0))


def _draw_state(axes: Axes, recorder: EventRecorder, end_s: float) -> None:
    times_s = [0.0, *(moment.at_s for moment in recorder.changes()), end_s]
    states = ["locked", *(moment.state for moment in recorder.changes())]
    for start_s, stop_s, state in zip(times_s, times_s[1:], states, strict=False):
        color = _OPEN if state == "unlocked" else _LOCKED
        axes.axvspan(start_s, stop_s, color=color, alpha=0.75, linewidth=0)
        if stop_s - start_s > end_s / 20:
            word = "OPEN" if state == "unlocked" else "LOCKED"
            middle_s = (start_s + stop_s) / 2
            axes.text(middle_s, 0.62, word, ha="center", va="center", color="white", weight="bold")
    for moment in recorder.changes():
        if moment.at_s < end_s:
            axes.text(moment.at_s, 0.2, f" {moment.at_s:.1f} s", color="white", size=8, va="center")
    axes.set(title="What the monitor says", yticks=[], ylim=(0.0, 1.0))


def _draw_windows(axes: Axes, recorder: EventRecorder) -> None:
    """Draw the heart rate, and under it what each window said."""
    heard = [
        (moment.at_s, moment.status.heart_rate_bpm or np.nan, moment.status.decision)
        for moment in recorder.moments
    ]
    times_s = np.array([at_s for at_s, _, _ in heard])
    rates = np.array([rate for _, rate, _ in heard])
    axes.plot(times_s, rates, color="#546e7a", linewidth=1.0)
    floor = float(np.nanmin(rates, initial=200.0)) - 12.0
    for decision, (color, label) in _DECISIONS.items():
        these = [at_s for at_s, _, said in heard if said == decision]
        axes.plot(these, np.full(len(these), floor), "|", color=color, markersize=11, label=label)
    axes.set(title="Heart rate, and what each window says", ylabel="bpm")
    axes.legend(frameon=False, ncols=len(_DECISIONS), loc="lower center", fontsize=8)
    axes.set_ylim(floor - 12.0, None)
