"""Readers and writers of recordings."""

from acclock.acquisition.even import Gap
from acclock.acquisition.units import Unit
from acclock.recordings.datasets import (
    Dataset,
    DatasetEntry,
    Loaded,
    holds_many,
    load_all,
    open_dataset,
)
from acclock.recordings.formats.own import read_extras, write
from acclock.recordings.raw import Reading
from acclock.recordings.reading import inspect, read
from acclock.recordings.tables import Columns

__all__ = [
    "Columns",
    "Dataset",
    "DatasetEntry",
    "Gap",
    "Loaded",
    "Reading",
    "Unit",
    "holds_many",
    "inspect",
    "load_all",
    "open_dataset",
    "read",
    "read_extras",
    "write",
]
