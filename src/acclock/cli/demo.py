"""``acclock demo``: the main job, shown on people who do not exist."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from acclock.cli.show import JsonFlag, show
from acclock.values import FloatArray

Folder = Annotated[Path, typer.Option("--out", help="Where recordings and pictures go.")]
_SHOWN_S = 4.0
_BARS = "▁▂▃▄▅▆▇█"


def demo(
    *,
    out: Folder = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Other people.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Enroll a simulated wearer, know them again in a later session, refuse a stranger."""
    # loads the model's runtime and the database, which only commands that use them should
    from acclock.world.demonstration import play

    if not as_json:
        print("Simulating six minutes of a wearer, enrolling them, and meeting them again ...")
    played = play(out, seed=seed)
    if not as_json:
        rate_hz = played.recording.rate_hz
        shown = played.heartbeat.signal[: round(_SHOWN_S * rate_hz)]
        print(f"\nFour seconds in the ear:\n  {_draw_bars(shown, width=80)}\n")
    facts = {
        "heart_rate_bpm": round(played.heartbeat.rate.bpm, 1),
        "true_heart_rate_bpm": round(played.true_bpm, 1),
        "likeness_to_the_true_heartbeat_while_the_head_shakes": (
            f"{played.likeness_before:.2f} before, {played.likeness_after:.2f} after denoising"
        ),
        "enrolled_windows": played.good_windows,
        "the_same_person_in_a_later_session": played.user_again.decision,
        "another_person": played.stranger.decision,
        "pictures": [str(out / "heartbeat.png"), str(out / "denoised.png")],
    }
    show(facts, as_json=as_json)
    raise typer.Exit(0 if played.user_again.accepted and not played.stranger.accepted else 1)


def _draw_bars(signal: FloatArray, *, width: int) -> str:
    """Draw a signal in one line of text, by how strong it is in each piece."""
    tops = np.array([np.abs(piece).max() for piece in np.array_split(signal, width)])
    levels = np.clip(tops / max(tops.max(), 1e-12) * len(_BARS), 0, len(_BARS) - 1)
    return "".join(_BARS[int(level)] for level in levels)
