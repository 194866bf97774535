"""The one place where the stages meet: acceleration in, prepared windows out.

Training, enrollment, the live stream and the files for phones all take their windows from here.
"""

from acclock.pipeline.contexts import Context, PreparedWindow, prepare_together
from acclock.pipeline.preparation import (
    BAND_HZ,
    Preparation,
    PreparationName,
    make_windows,
    prepare_contexts,
)
from acclock.pipeline.recordings import clean, prepare, trace
from acclock.pipeline.stream import StreamingDenoiser

__all__ = [
    "BAND_HZ",
    "Context",
    "Preparation",
    "PreparationName",
    "PreparedWindow",
    "StreamingDenoiser",
    "clean",
    "make_windows",
    "prepare",
    "prepare_contexts",
    "prepare_together",
    "trace",
]
