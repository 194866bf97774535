"""Readers and writers of recordings."""

from acclock.acquisition.gaps import Gap
from acclock.acquisition.units import Unit
from acclock.world.files.columns import Columns
from acclock.world.files.datasets import Dataset, Entry, holds_many, open_dataset
from acclock.world.files.formats.own import read_extras, write
from acclock.world.files.loading import Loaded, load_all
from acclock.world.files.reading import inspect, read
from acclock.world.files.settling import Reading

__all__ = [
    "Columns",
    "Dataset",
    "Entry",
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
