"""Denoising against the truth, against its peers, and against the clock.

``python -m benchmarks.denoising [SECTION...]``: ``simulated`` and ``real`` compare with a known
clean heartbeat, ``heart-rate`` compares raw with denoised, ``invention`` looks for heartbeats that
are not there, ``speed`` compares with PyWavelets and padasip, ``stream`` runs for a day. The real
recordings lie where ``ACCLOCK_DATA`` says. Only a ratio against a peer, or stage 2 no better than
stage 1, makes it exit 1. ``--people N``, ``--hours N``, ``--json FILE``.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import padasip
import pywt
from scipy import fft, signal

from acclock.denoising.bandpass import EDGE_S, bandpass
from acclock.denoising.config import DenoiseConfig
from acclock.denoising.heart_rate import measure_heart_rate
from acclock.denoising.inherent import join, split
from acclock.denoising.sporadic import Reference, filter_adaptively
from acclock.denoising.stages import denoise
from acclock.pipeline import Preparation, StreamingDenoiser, prepare, trace
from acclock.recordings import open_dataset
from acclock.simulation import Movement, Music, Scene, draw_person, simulate
from acclock.values import FloatArray, Recording

RATE_HZ = 100.0
WINDOW, CONTEXT = 400, 2048
FIRST = 6
"""The first window with a whole context before its end."""
CONFIG, PAPERS = DenoiseConfig(), DenoiseConfig(recovery="paper")
SPORADIC = ("blink", "head-shake", "talk")
MOVEMENTS: tuple[Movement, ...] = ("still", "blink", "head-shake", "talk", "walk", "run")
VOLUMES: tuple[Music, ...] = ("low", "medium", "high")
RATIOS_DB = (0.0, -6.0, -12.0)
SHAKEN = ("moving head or body", "moving chair", "standing up", "picking up")
"""What people in ClassyGlass did when their heads moved now and then."""


@dataclass(frozen=True, slots=True)
class Case:
    """A recording whose clean heartbeat is known."""

    kind: str
    person: str
    recording: Recording
    truth: FloatArray
    windows: tuple[int, ...]
    """Which windows are looked at."""


@dataclass(frozen=True, slots=True)
class Score:
    """How close one window came to the truth, all axes together."""

    gain_db: float
    """How much less error than the raw window has."""
    correlation: float


def simulate_cases(people: int) -> Iterator[Case]:
    scenes = {name: Scene(duration_s=60.0, movement=name) for name in MOVEMENTS}
    music = {f"music {name}": Scene(duration_s=60.0, music=name) for name in VOLUMES}
    for kind, scene in (scenes | music).items():
        for index in range(people):
            lived = simulate(draw_person(index), scene, seed=index)
            windows = tuple(range(FIRST, len(lived.recording) // WINDOW))
            yield Case(kind, str(index), lived.recording, lived.truth, windows)


def mix_cases(data: Path, people: int) -> Iterator[Case]:
    """Add real head motion, a second or two at a time, to real heartbeats of the chest."""
    motions = list(load_motions(data, 24))
    for person, clean in load_heartbeats(data, people):
        truth = bandpass(clean, rate_hz=RATE_HZ)
        for ratio in RATIOS_DB:
            draw = np.random.default_rng(int(person[-4:]))
            mixed, windows = clean.copy(), range(FIRST, clean.shape[1] // WINDOW, 2)
            for window in windows:
                place = slice(window * WINDOW, (window + 1) * WINDOW)
                mixed[:, place] += disturb(truth[:, place], motions, ratio, draw)
            recording = Recording(samples=mixed, rate_hz=RATE_HZ)
            yield Case(f"{ratio:.0f} dB", person, recording, truth, tuple(windows))


def disturb(
    heartbeat: FloatArray, motions: Sequence[FloatArray], ratio_db: float, draw: np.random.Generator
) -> FloatArray:
    """Give a window that holds one excerpt of motion, turned at random, at a set ratio."""
    length = int(draw.integers(80, 250))
    motion = motions[int(draw.integers(len(motions)))]
    starts = draw.integers(0, motion.shape[1] - length, size=8)
    liveliest = max(starts, key=lambda s: float(motion[:, s : s + length].var()))
    excerpt = motion[:, liveliest : liveliest + length]
    turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    window = np.zeros_like(heartbeat)
    place = int(draw.integers(0, WINDOW - length))
    centered = excerpt - excerpt.mean(axis=1, keepdims=True)
    window[:, place : place + length] = (turn @ centered) * signal.windows.tukey(length, 0.4)
    heard = bandpass(window, rate_hz=RATE_HZ)
    scale = np.sqrt((heartbeat**2).sum() / (heard**2).sum() * 10 ** (-ratio_db / 10))
    return np.asarray(window * scale)


def load_heartbeats(data: Path, people: int) -> Iterator[tuple[str, FloatArray]]:
    """Give one long and clear recording of the chest per person."""
    seen: set[str] = set()
    for entry in open_dataset(data / "mscardio-dev.zip"):
        if len(seen) == people or entry.person is None or entry.person in seen:
            continue
        recording = entry.load(rate_hz=RATE_HZ)
        inner = recording.samples[:, 600:-600]
        whole = recording.received.all() and inner.shape[1] >= 20 * WINDOW
        if whole and measure_heart_rate(inner, RATE_HZ).clarity > 0.5:
            seen.add(entry.person)
            yield entry.person, inner[:, : 20 * WINDOW]


def load_motions(data: Path, count: int) -> Iterator[FloatArray]:
    """Give real head motion without its gravity."""
    moving = (
        entry
        for entry in open_dataset(data / "classyglass-dev.zip")
        if entry.labels["activity"] in SHAKEN
    )
    for entry, _ in zip(moving, range(count), strict=False):
        samples = entry.load(rate_hz=RATE_HZ).samples[:, 300:-300]
        yield bandpass(samples, rate_hz=RATE_HZ, low_hz=0.3, high_hz=50.0)


def lay(recording: Recording, clean: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Let a method clean the context of each window, and lay the windows end to end."""
    ends = range(WINDOW, len(recording) + 1, WINDOW)
    contexts = (recording.samples[:, max(0, end - CONTEXT) : end] for end in ends)
    return np.concatenate([clean(context)[:, -WINDOW:] for context in contexts], axis=1)


def filter_plainly(context: FloatArray) -> FloatArray:
    sections = signal.butter(4, (0.8, 25.0), "bandpass", fs=RATE_HZ, output="sos")
    return np.asarray(signal.sosfiltfilt(sections, context))


def threshold_softly(context: FloatArray) -> FloatArray:
    """Do what PyWavelets' users do: a universal soft threshold on the same levels."""
    if context.shape[1] < CONTEXT:
        return np.zeros_like(context)
    return np.stack([run_pywavelets(axis, soften) for axis in context])


def run_pywavelets(axis: FloatArray, fade: Callable[[FloatArray, float], FloatArray]) -> FloatArray:
    pairs = []
    for place, (approximation, detail) in enumerate(pywt.swt(axis, "dmey", CONFIG.levels)):
        limit = float(np.median(np.abs(detail))) / 0.6745 * np.sqrt(2 * np.log(len(detail)))
        kept = CONFIG.levels - place in CONFIG.kept_levels
        detail = fade(detail, limit) if kept else np.zeros_like(detail)
        pairs.append((np.zeros_like(approximation), detail))
    return np.asarray(pywt.iswt(pairs, "dmey"))


def soften(detail: FloatArray, limit: float) -> FloatArray:
    return np.asarray(pywt.threshold(detail, limit, "soft"))


def shrink(detail: FloatArray, limit: float) -> FloatArray:
    return np.asarray(detail * -np.expm1(-((np.abs(detail) / limit) ** CONFIG.shrink_power)))


def apply_methods(recording: Recording) -> dict[str, FloatArray]:
    ours = trace(recording, Preparation(name="two-stage"))
    papers = trace(recording, Preparation(name="paper"))
    return {
        "raw": lay(recording, lambda context: context),
        "Butterworth 0.8-25 Hz": lay(recording, filter_plainly),
        "PyWavelets, soft threshold": lay(recording, threshold_softly),
        "stage 1": ours.shrunk,
        "both stages, paper": papers.recovered,
        "both stages, default": ours.recovered,
    }


def score_case(case: Case) -> dict[str, list[Score]]:
    laid = apply_methods(case.recording)
    scores: dict[str, list[Score]] = {name: [] for name in laid}
    for window in case.windows:
        place = slice(window * WINDOW, (window + 1) * WINDOW)
        truth = center(case.truth[:, place])
        raw_error = np.square(center(laid["raw"][:, place]) - truth).sum()
        for name, whole in laid.items():
            guess = center(whole[:, place])
            error = max(float(np.square(guess - truth).sum()), 1e-300)
            size = np.sqrt(np.square(guess).sum() * np.square(truth).sum())
            likeness = float((guess * truth).sum() / size) if size else 0.0
            scores[name].append(Score(10 * np.log10(raw_error / error), likeness))
    return scores


def center(window: FloatArray) -> FloatArray:
    return np.asarray(window - window.mean(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over people, with what a bootstrap over people gives it in 95 % of the draws."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, by_person: Iterable[float]) -> "Interval":
        values = np.array(list(by_person))
        draws = np.random.default_rng(0).integers(0, len(values), (2000, len(values)))
        low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
        return cls(float(values.mean()), float(low), float(high))

    def show(self, digits: int) -> str:
        return f"{self.mean:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


Report = dict[str, object]


def compare(cases: Iterable[Case], gainful: Sequence[str]) -> tuple[Report, bool]:
    """Print how the methods do on each kind; say whether stage 2 gains on the kinds named."""
    by_kind: dict[str, list[dict[str, list[Score]]]] = {}
    for case in cases:
        by_kind.setdefault(case.kind, []).append(score_case(case))
    report: Report = {}
    for title, mean, digits in (
        ("gain over raw, dB", mean_gain, 1),
        ("correlation with the clean beat", mean_correlation, 2),
    ):
        methods = list(next(iter(by_kind.values()))[0])
        print_header(title, *methods)
        for kind, people in by_kind.items():
            cells = [Interval.of(mean(one[method]) for one in people) for method in methods]
            print("|", " | ".join([kind, *(cell.show(digits) for cell in cells)]), "|")
            report[f"{title}: {kind}"] = {
                method: asdict(cell) for method, cell in zip(methods, cells, strict=True)
            }
    return report, compare_stages(by_kind, gainful, report)


def compare_stages(
    by_kind: dict[str, list[dict[str, list[Score]]]], gainful: Sequence[str], report: Report
) -> bool:
    """Print what stage 2 adds to stage 1; say whether the default adds something everywhere."""
    print_header(
        "stage 2 more than stage 1", "paper, dB", "default, dB", "paper, corr.", "default, corr."
    )
    held = True
    for kind, people in by_kind.items():
        cells = [
            (Interval.of(mean(one[method]) - mean(one["stage 1"]) for one in people), digits)
            for mean, digits in ((mean_gain, 2), (mean_correlation, 3))
            for method in ("both stages, paper", "both stages, default")
        ]
        print("|", " | ".join([kind, *(cell.show(digits) for cell, digits in cells)]), "|")
        report[f"stage 2 more than stage 1: {kind}"] = [asdict(cell) for cell, _ in cells]
        held &= kind not in gainful or (cells[1][0].low > 0 and cells[3][0].low > 0)
    print(f"\nstage 2 beats stage 1 on {', '.join(gainful)}: {'yes' if held else 'NO'}")
    return held


def print_header(*cells: str) -> None:
    print("\n|", " | ".join(cells), "|")
    print("|" + "---|" * len(cells))


def mean_gain(scores: Sequence[Score]) -> float:
    return float(np.mean([score.gain_db for score in scores]))


def mean_correlation(scores: Sequence[Score]) -> float:
    return float(np.mean([score.correlation for score in scores]))


def compare_heart_rates(data: Path, people: int) -> Report:
    """Print how often raw and denoised recordings tell the same heart rate."""
    print_header("recordings", "clear raw", "denoised", "both", "of these within 3 bpm")
    report: Report = {}
    for name, file, activity in (
        ("MSCardio (chest)", "mscardio-dev.zip", None),
        ("ClassyGlass reading (temple)", "classyglass-dev.zip", "reading"),
        ("MuSe (sternum to chair)", "muse-dev.zip", None),
    ):
        pairs = np.array(list(read_rates(data / file, activity, 3 * people)))
        clear = pairs[:, :, 1] > 0
        both = clear.all(axis=1)
        near = np.abs(pairs[both, 0, 0] - pairs[both, 1, 0]) < 3
        counts = [*clear.sum(axis=0), both.sum(), near.sum()]
        report[name] = [int(count) for count in (len(pairs), *counts)]
        print(f"| {name}, {len(pairs)} | {counts[0]} | {counts[1]} | {counts[2]} | {counts[3]} |")
    return report


def read_rates(
    file: Path, activity: str | None, most: int
) -> Iterator[tuple[tuple[float, bool], tuple[float, bool]]]:
    entries = [e for e in open_dataset(file) if activity in (None, e.labels.get("activity"))]
    for entry in entries[:: max(1, len(entries) // most)]:
        recording = entry.load(rate_hz=RATE_HZ)
        if recording.duration_s < 30 or recording.missing_share:
            continue
        raw = measure_heart_rate(recording.samples, RATE_HZ)
        clean = measure_heart_rate(trace(recording, Preparation()).recovered, RATE_HZ)
        yield (raw.bpm, raw.clear), (clean.bpm, clean.clear)


def measure_invention(data: Path, people: int) -> Report:
    """Print how much of a wearer's reference comes out when only a table is heard.

    Both sides are turned to where they fit best, so that noise alone has some likeness, too.
    """
    noise = 0.03 * np.random.default_rng(1).normal(size=CONTEXT)
    likeness: dict[str, list[float]] = {"stage 1": [], "paper": [], "attenuation": []}
    for _, clean in load_heartbeats(data, people):
        rows = np.lib.stride_tricks.sliding_window_view(clean, CONTEXT, axis=1)[:, ::WINDOW]
        known = denoise(rows.reshape(-1, CONTEXT), CONFIG).reference
        wearer = Reference(known.windows[known.known], known.powers[known.known])
        heard = np.tile(noise, (len(wearer.powers), 1))
        ours, papers = (denoise(heard, config, wearer) for config in (CONFIG, PAPERS))
        likeness["stage 1"] += [*map(resemble, ours.shrunk, wearer.windows)]
        likeness["paper"] += [*map(resemble, papers.recovered, wearer.windows)]
        likeness["attenuation"] += [*map(resemble, ours.recovered, wearer.windows)]
    print_header("only a table is heard", "median likeness to the wearer's last periodic stretch")
    for name, values in likeness.items():
        print(f"| {name} | {np.median(values):.2f} |")
    return {name: float(np.median(values)) for name, values in likeness.items()}


def resemble(one: FloatArray, other: FloatArray) -> float:
    """Give the highest correlation of two windows, the one turned as a ring."""
    spectra = np.fft.rfft(one - one.mean()) * np.fft.rfft(other - other.mean()).conj()
    return float(np.fft.irfft(spectra, WINDOW).max() / (one.std() * other.std() * WINDOW))


def time_all(deeds: Sequence[Callable[[], object]], rounds: int, times: int = 1) -> FloatArray:
    """Give the seconds of deeds done in turn, so that all meet the same weather.

    Each is done some ``times`` in a row. Seconds are those of the processor, not of the wall:
    others may be at work on this machine. Shape: ``(deeds, rounds)``.
    """
    took = np.empty((len(deeds), rounds))
    for turn in range(rounds):
        for which, deed in enumerate(deeds):
            start = time.thread_time()
            for _ in range(times):
                deed()
            took[which, turn] = (time.thread_time() - start) / times
    return took


def compare_speeds() -> tuple[Report, bool]:
    """Print times and ratios on one core; say whether the ratios hold."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows, desired = prepare_rows(256), np.random.default_rng(0).normal(size=WINDOW)
    one, memory, turns = rows[:1], np.full(WINDOW, 0.995), iter(np.tile(rows, (9, 1)))
    peers = (
        (
            "stage 1 of 2048 samples, PyWavelets",
            lambda: join(split(one, CONFIG), CONFIG),
            lambda: run_pywavelets(one[0], shrink),
            12.0,
        ),
        (
            "RLS of 400 samples, padasip",
            lambda: filter_adaptively(one[0, :WINDOW], desired, memory, CONFIG),
            lambda: run_padasip(one[0, :WINDOW], desired),
            100.0,
        ),
        (
            "band-pass of 48 contexts, scipy.fft",
            lambda: bandpass(rows[:48], rate_hz=RATE_HZ),
            lambda: run_scipy(rows[:48]),
            2.0,
        ),
    )
    print_header("what", "ours, ms", "peer, ms", "times faster", "needed")
    report: Report = {}
    held = True
    for name, ours, theirs, needed in peers:
        # What disturbs a measurement only adds to it: the least is the nearest to the truth.
        ours_ms, peers_ms = 1e3 * time_all((ours, theirs), 20, 5).min(axis=1)
        faster = peers_ms / ours_ms
        print(f"| {name} | {ours_ms:.3f} | {peers_ms:.2f} | {faster:.0f} | {needed:.0f} |")
        report[name] = faster
        held &= faster >= needed
    before = denoise(rows[0], CONFIG).reference
    single_ms = 1e3 * np.median(time_all([lambda: denoise(next(turns), CONFIG, before)], 2000))
    batch_ms = 1e3 * np.median(time_all([lambda: denoise(rows, CONFIG)], 10)) / len(rows)
    print(f"| both stages, one window, one axis, median | {single_ms:.3f} | | | aim: 0.6 ms |")
    print(f"| both stages, one of 256 windows, median | {batch_ms:.3f} | | | aim: 0.5 ms |")
    return report | {"one window, ms": single_ms, "one of 256, ms": batch_ms}, held


def prepare_rows(count: int) -> FloatArray:
    """Give contexts of simulated people who blink."""
    scene = Scene(duration_s=60.0, movement="blink")
    rows = []
    for index in range(-(-count // 12)):
        samples = simulate(draw_person(index), scene).recording.samples
        rows += [samples[axis, s : s + CONTEXT] for axis in range(3) for s in range(0, 3900, 1000)]
    return np.stack(rows[:count])


def run_padasip(inputs: FloatArray, desired: FloatArray) -> object:
    peer = padasip.filters.FilterRLS(n=CONFIG.taps, mu=0.995, eps=0.01, w="zeros")
    history = padasip.input_from_history(np.r_[np.zeros(CONFIG.taps - 1), inputs], CONFIG.taps)
    return peer.run(desired, history[:, ::-1])


def run_scipy(contexts: FloatArray) -> FloatArray:
    """Give what ``bandpass`` gives, but for the gain, which takes no time."""
    edge = int(EDGE_S * RATE_HZ)
    centered = contexts - contexts.mean(axis=-1, keepdims=True)
    padded = np.pad(centered, ((0, 0), (edge, edge)), mode="reflect", reflect_type="odd")
    spectra = fft.rfft(padded)
    spectra *= 0.5
    return np.asarray(fft.irfft(spectra, padded.shape[-1])[:, edge:-edge])


def run_for_a_day(hours: int) -> Report:
    """Print what a second of signal costs, and what the process holds, as a stream grows."""
    minute = simulate(draw_person(0), Scene(duration_s=60.0)).recording.samples
    denoiser = StreamingDenoiser(Preparation(), step_s=4.0)
    print_header("hours", "ms per second of signal", "memory of the process, MB")
    report: Report = {}
    for hour in range(1, hours + 1):
        start = time.process_time()
        for second in np.split(np.tile(minute, 60), 3600, axis=1):
            denoiser.push(second)
        cost_ms = (time.process_time() - start) / 3.6
        held_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report[str(hour)] = [round(cost_ms, 4), round(held_mb, 1)]
        if hour in (1, 2, 4, 8, 16, 24):
            print(f"| {hour} | {cost_ms:.3f} | {held_mb:.0f} |", flush=True)
    return report


def count_windows() -> int:
    """Warm up everything once, so that nothing is built inside a measurement."""
    recording = simulate(draw_person(0), Scene(duration_s=20.0)).recording
    return len(prepare(recording, Preparation()))


SECTIONS = ("simulated", "real", "heart-rate", "invention", "speed", "stream")
REAL = ("real", "heart-rate", "invention")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.denoising", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=SECTIONS)
    parser.add_argument("--people", type=int, default=12)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    named = os.environ.get("ACCLOCK_DATA")
    report: dict[str, Report] = {}
    held = bool(count_windows())
    for section in chosen.sections:
        if section in REAL and named is None:
            print(f"\n{section}: left out, since ACCLOCK_DATA names no folder of real recordings")
            continue
        report[section], fine = run(section, Path(named or "."), chosen.people, chosen.hours)
        held &= fine
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if held else 1


def run(section: str, data: Path, people: int, hours: int) -> tuple[Report, bool]:
    print(f"\n## {section}")
    if section == "simulated":
        return compare(simulate_cases(people), SPORADIC)
    if section == "real":
        return compare(mix_cases(data, people), [f"{ratio:.0f} dB" for ratio in RATIOS_DB])
    if section == "heart-rate":
        return compare_heart_rates(data, people), True
    if section == "invention":
        return measure_invention(data, people), True
    if section == "speed":
        return compare_speeds()
    return run_for_a_day(hours), True


if __name__ == "__main__":
    sys.exit(main())
