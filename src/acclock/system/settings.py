"""Where AccLock keeps its things on this machine."""

import os
import sys
from pathlib import Path

from acclock.errors import VaultError


def own_models() -> tuple[str, ...]:
    """Give the models that ``ACCLOCK_MODEL`` names, separated as the folders of ``PATH`` are."""
    return tuple(filter(None, os.environ.get("ACCLOCK_MODEL", "").split(os.pathsep)))


def home_folder() -> Path:
    """Give the folder of the vault: ``ACCLOCK_HOME``, or where this system keeps such data."""
    if named := os.environ.get("ACCLOCK_HOME"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "acclock"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "acclock"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "acclock"


def require_vault(folder: Path) -> Path:
    """Give a folder that holds a vault, or the count of one in another database; else refuse."""
    if not any((folder / name).exists() for name in ("vault.db", "vault.head")):
        raise VaultError(f"there is no vault at {folder}")
    return folder
