"""Pictures of recordings, drawn into files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from acclock.denoising.beats import find_beats
from acclock.denoising.heart_rate import Heartbeat, longest_stretch
from acclock.denoising.wavelets import scalogram
from acclock.errors import MissingExtraError, UnwritableError
from acclock.system.files import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from acclock.denoising.stages import Trace
    from acclock.values import FloatArray, Recording

_EXCERPT_S = 10.0
_SPECTRUM_S = 8.0
_PICTURE_HZ = np.geomspace(0.8, 25.0, 96)
_RAW, _HEART, _MARK = "#8899aa", "#c62828", "#1565c0"


def draw_recording(recording: Recording, heartbeat: Heartbeat, path: Path) -> None:
    """Draw waveform, heartbeat, spectrum and continuous wavelet picture of a recording.

    Paper: Fig. 2 (a beat in the ear) and Fig. 3 (wavelet pictures).
    """
    figure = new_figure(10.0, 7.0)
    raw_axes, heart_axes, spectrum_axes, wavelet_axes = figure.subplots(2, 2).flat
    shown = _middle(heartbeat.signal.size, recording.rate_hz)
    raw = longest_stretch(recording)["xyz".index(heartbeat.axis)]
    _draw_waveform(raw_axes, raw[shown], recording.rate_hz)
    _draw_heartbeat(heart_axes, heartbeat, shown, recording.rate_hz)
    _draw_spectrum(spectrum_axes, raw, heartbeat.signal, recording.rate_hz)
    _draw_wavelets(wavelet_axes, heartbeat.signal[shown], recording.rate_hz)
    save(figure, path)


def new_figure(width_in: float, height_in: float) -> Figure:
    """Give an empty picture that needs no screen."""
    try:
        # matplotlib takes half a second to load; only pictures should wait for it
        from matplotlib.figure import Figure as NewFigure
    except ImportError:
        raise MissingExtraError(package="matplotlib", extra="plot") from None
    return NewFigure(figsize=(width_in, height_in), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a picture whole or not at all; the ending of the name says in which format."""
    known = figure.canvas.get_supported_filetypes()
    ending = path.suffix.lower().removeprefix(".") or "png"
    if ending not in known:
        raise UnwritableError(f"cannot draw a .{ending} picture; try one of {sorted(known)}")
    with replacing(path) as file:
        figure.savefig(file, format=ending, dpi=110)


def _middle(count: int, rate_hz: float) -> slice:
    """Choose what lies in the middle: hands are busy with the device at both ends."""
    length = min(round(_EXCERPT_S * rate_hz), count)
    return slice((count - length) // 2, (count + length) // 2)


def _draw_waveform(axes: Axes, raw: FloatArray, rate_hz: float) -> None:
    axes.plot(np.arange(raw.size) / rate_hz, raw - raw.mean(), color=_RAW, linewidth=0.8)
    axes.set(title="As received (mean removed)", xlabel="s", ylabel="m/s²")


def _draw_heartbeat(axes: Axes, heartbeat: Heartbeat, shown: slice, rate_hz: float) -> None:
    signal = heartbeat.signal[shown]
    seconds = np.arange(signal.size) / rate_hz
    rate = heartbeat.rate
    beats_s = find_beats(heartbeat.signal, rate_hz) if rate.clear else np.empty(0)
    beats_s = beats_s - shown.start / rate_hz
    beats_s = beats_s[(beats_s >= 0) & (beats_s <= seconds[-1])]
    axes.plot(seconds, signal, color=_HEART, linewidth=0.9)
    axes.plot(beats_s, np.interp(beats_s, seconds, signal), "o", color=_MARK, markersize=4)
    title = f"{rate.bpm:.0f} beats a minute" if rate.clear else "no clear heartbeat"
    axes.set(title=f"Heartbeat, axis {heartbeat.axis}: {title}", xlabel="s", ylabel="m/s²")


def _draw_spectrum(axes: Axes, raw: FloatArray, heart: FloatArray, rate_hz: float) -> None:
    length = min(round(_SPECTRUM_S * rate_hz), raw.size)
    frequencies = np.fft.rfftfreq(length, 1 / rate_hz)[1:]
    for signal, color, label in ((raw, _RAW, "as received"), (heart, _HEART, "heartbeat")):
        pieces = signal[: signal.size // length * length].reshape(-1, length)
        tapered = (pieces - pieces.mean(axis=1, keepdims=True)) * np.hanning(length)
        power = np.square(np.abs(np.fft.rfft(tapered))).mean(axis=0)[1:]
        decibels = 10 * np.log10(np.maximum(power / power.max(), 1e-6))
        axes.plot(frequencies, decibels, color=color, linewidth=1.0, label=label)
    axes.set(title="Spectrum, each against its peak", xlabel="Hz", ylabel="dB", xscale="log")
    axes.legend(frameon=False)


def _draw_wavelets(axes: Axes, heart: FloatArray, rate_hz: float) -> None:
    frequencies_hz = _PICTURE_HZ[rate_hz / 2 >= _PICTURE_HZ]
    strength = scalogram(heart, rate_hz=rate_hz, frequencies_hz=frequencies_hz)
    seconds = np.arange(heart.size) / rate_hz
    axes.pcolormesh(
        seconds, frequencies_hz, strength, cmap="magma", shading="auto", rasterized=True
    )
    axes.set(title="Continuous wavelet transform", xlabel="s", ylabel="Hz", yscale="log")


def draw_trace(trace: Trace, path: Path) -> None:
    """Draw the liveliest ten seconds of a recording after each stage of denoising.

    Paper: Figs. 5 to 9.
    """
    axis = int(np.argmax(trace.shrunk.std(axis=-1)))
    shown = _liveliest(trace, axis)
    steps = (
        ("As received (mean removed)", trace.raw, _RAW),
        ("Wavelet bands kept", trace.wavelet, _RAW),
        ("Small coefficients shrunk: end of stage 1", trace.shrunk, _HEART),
        ("Sporadic events recovered: end of stage 2", trace.recovered, _HEART),
    )
    figure = new_figure(10.0, 9.0)
    every_axes = figure.subplots(len(steps), 1, sharex=True)
    for axes, (title, signals, color) in zip(every_axes, steps, strict=True):
        signal = signals[axis, shown]
        axes.plot(_seconds(trace, shown), signal - signal.mean(), color=color, linewidth=0.9)
        axes.set(title=title, ylabel="m/s²")
    _mark_events(every_axes[2], trace, axis, shown)
    every_axes[-1].set(xlabel=f"s (axis {'xyz'[axis]})")
    save(figure, path)


def _liveliest(trace: Trace, axis: int) -> slice:
    """Choose where most happens, so that a picture of a short event shows it."""
    length = round(trace.window_s * trace.rate_hz)
    windows = trace.wavelet[axis].reshape(-1, length)
    count = min(round(_EXCERPT_S * trace.rate_hz), trace.wavelet.shape[-1])
    middle = (int(np.argmax(windows.std(axis=-1))) + 0.5) * length
    begin = int(np.clip(middle - count / 2, 0, trace.wavelet.shape[-1] - count))
    return slice(begin, begin + count)


def _seconds(trace: Trace, shown: slice) -> FloatArray:
    return np.arange(shown.start, shown.stop) / trace.rate_hz


def _mark_events(axes: Axes, trace: Trace, axis: int, shown: slice) -> None:
    """Shade the windows taken for events, and put a dot on every peak that was weighed."""
    begin_s, end_s = shown.start / trace.rate_hz, shown.stop / trace.rate_hz
    for number, seen in enumerate(trace.periodicity):
        left, right = number * trace.window_s, (number + 1) * trace.window_s
        if not seen[axis].periodic and left < end_s and right > begin_s:
            axes.axvspan(max(left, begin_s), min(right, end_s), color="#ffe0b2", linewidth=0)
    peaks = trace.peaks(axis)
    peaks = peaks[(peaks >= shown.start) & (peaks < shown.stop)]
    signal = trace.shrunk[axis] - trace.shrunk[axis, shown].mean()
    axes.plot(peaks / trace.rate_hz, signal[peaks], "o", color=_MARK, markersize=4)
    axes.text(0.995, 0.04, "shaded: event", transform=axes.transAxes, ha="right", size=8)
