"""Messages that are kept on the disk until somebody has confirmed them."""

from dataclasses import dataclass
from pathlib import Path

from acclock.world.vault.private_files import make_private_folder, write_private

_LONGEST = 1000
_NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message with its number, which is the same however often it is sent."""

    number: str
    body: bytes


class Spool:
    """A folder of letters, first in, first out. What was confirmed is gone for good.

    A letter that was confirmed a moment before a crash may be sent again, with the same number.
    """

    def __init__(self, folder: Path) -> None:
        make_private_folder(folder)
        self._folder = folder
        self._turn = max((_turn(path) for path in folder.iterdir()), default=0)

    def put(self, letter: Letter) -> None:
        """Keep a letter; one with the same number is not kept twice."""
        if any(self._folder.glob(f"*-{letter.number}.*")):
            return
        self._turn += 1
        write_private(self._folder / f"{self._turn:08d}-{letter.number}.letter", letter.body)
        self._thin_out()

    def note(self) -> bytes:
        """Give what was last noted beside the letters; nothing when nothing was."""
        path = self._folder / _NOTE
        return path.read_bytes() if path.exists() else b""

    def take_note(self, content: bytes) -> None:
        """Keep a note beside the letters, in place of the last one."""
        write_private(self._folder / _NOTE, content)

    def letters(self) -> list[Letter]:
        """Give all that nobody has confirmed, the oldest first."""
        return [
            Letter(number=path.stem.partition("-")[2], body=path.read_bytes())
            for path in self._waiting()
        ]

    def confirm(self, letter: Letter) -> None:
        """Forget a letter that has arrived."""
        for path in self._folder.glob(f"*-{letter.number}.letter"):
            path.unlink()

    def refuse(self, letter: Letter) -> None:
        """Lay a letter aside that the receiver will never take, for the owner to look at."""
        for path in self._folder.glob(f"*-{letter.number}.letter"):
            path.replace(path.with_suffix(".refused"))

    def _waiting(self) -> list[Path]:
        return sorted(self._folder.glob("*.letter"))

    def _thin_out(self) -> None:
        # after days without a receiver the newest state matters, not every old one
        for kind in ("*.letter", "*.refused"):
            for path in sorted(self._folder.glob(kind))[:-_LONGEST]:
                path.unlink()


def _turn(path: Path) -> int:
    number = path.name.partition("-")[0]
    return int(number) if number.isdigit() else 0
