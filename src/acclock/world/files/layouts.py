"""Data sets that are known by where their files lie."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from acclock.world.files import classyglass, mscardio
from acclock.world.files.raw import About
from acclock.world.files.trees import Item, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Which files of a data set are recordings, and what their places and neighbors tell."""

    name: str
    format: str
    pattern: re.Pattern[str]
    """Found in the path of each recording."""
    describe: Callable[[Item], About]

    def holds(self, item: Item) -> bool:
        """Whether a file is a recording of this data set."""
        return self.pattern.search(item.path) is not None


LAYOUTS = (
    Layout(
        name="MSCardio",
        format="MSCardio scg.csv",
        pattern=mscardio.PATTERN,
        describe=mscardio.describe,
    ),
    Layout(
        name="ClassyGlass",
        format="ClassyGlass MetaWear CSV",
        pattern=classyglass.PATTERN,
        describe=classyglass.describe,
    ),
)


def layout_of(item: Item) -> Layout | None:
    """Name the data set that a file belongs to by its place, if one."""
    return next((layout for layout in LAYOUTS if layout.holds(item)), None)


def find_layout(tree: Tree) -> Layout | None:
    """Name the data set that lies in a tree, if one."""
    found = (layout_of(Item(tree, name)) for name in tree.names)
    return next((layout for layout in found if layout), None)
