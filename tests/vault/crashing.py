"""Changes a vault and dies in the middle: a program that the tests of crashes start.

``crashing.py points DEED PRISTINE OUT`` does the deed on copies of a folder, killing itself
(-9) at the first point where something could be half done, then at the second, and so on until
it survives. ``crashing.py loop DEED FOLDER [URL]`` goes on until somebody kills it, and so does
``crashing.py crowd enroll FOLDER [URL]``, where eight threads enroll people at the same time.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import alembic.runtime.environment
import alembic.script  # noqa: F401 - both loaded once here and not in every child
import numpy as np
from sqlalchemy import Engine, event

from acclock.matching.cohort import Cohort
from acclock.matching.enrollment import enroll
from acclock.matching.template import Template
from acclock.values import FloatArray
from acclock.vault import database
from acclock.vault.audit import HeadFile
from acclock.vault.backup import restore
from acclock.vault.identifier import migrate
from acclock.vault.key_rotation import reissue, rotate_keys
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault
from acclock.vault.vault import Vault

RNG = np.random.default_rng(os.getpid())


def directions(number: int) -> FloatArray:
    rows = RNG.normal(size=(number, 16))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def template(model: str = "toy") -> Template:
    cohort = Cohort(embeddings=directions(50), model=model)
    return enroll(directions(10), cohort=cohort, now=datetime.now(UTC))


def opened(folder: Path, url: str | None = None) -> Vault:
    return open_vault(folder, url=url, key_store=KeyFile(folder / "vault.key"))


def newest(vault: Vault) -> int:
    return vault.person("p0").version


def enroll_one(vault: Vault, turn: int) -> None:
    vault.add(f"new {turn}", template())


def update_one(vault: Vault, _: int) -> None:
    vault.revise("p0", template(), after=newest(vault))


def remove_one(vault: Vault, turn: int) -> None:
    vault.remove(f"p{turn}")


def rotate(vault: Vault, _: int) -> None:
    rotate_keys(vault)


def turn_anew(vault: Vault, _: int) -> None:
    reissue(vault)


def migrate_all(vault: Vault, turn: int) -> None:
    migrate(vault, vault.people(), remake=lambda _, __: template(f"model {turn}"))


DEEDS: dict[str, Callable[[Vault, int], None]] = {
    "enroll": enroll_one,
    "update": update_one,
    "remove": remove_one,
    "rotate": rotate,
    "reissue": turn_anew,
    "migrate": migrate_all,
}


def do(deed: str, folder: Path) -> None:
    if deed == "restore":
        keys = KeyFile(folder / "vault.key")
        restore(folder / "backup.db", folder, key_store=keys).close()
        return
    with opened(folder) as vault:  # «open» and «create» and new tables are this line alone
        if deed in DEEDS:
            DEEDS[deed](vault, 0)


def arm(fatal: int) -> None:
    """Arrange to die at the given point."""
    passed = count()

    def point(*_: object, **__: object) -> None:
        if next(passed) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(owner: object, name: str) -> None:
        original = getattr(owner, name)

        def replaced(*arguments: object, **options: object) -> object:
            point()
            result = original(*arguments, **options)
            point()
            return result

        setattr(owner, name, replaced)

    def statement(_: object, __: object, sql: str, *___: object) -> None:
        if not sql.lstrip().startswith(("SELECT", "PRAGMA", "BEGIN")):  # these change nothing
            point()

    event.listen(Engine, "before_cursor_execute", statement)
    event.listen(Engine, "commit", point)
    around(KeyFile, "write")
    around(HeadFile, "write")
    around(database, "scrub")


def points(deed: str, pristine: Path, out: Path) -> None:
    for fatal in count():
        folder = out / str(fatal)
        shutil.copytree(pristine, folder)
        child = os.fork()
        if child == 0:
            arm(fatal)
            do(deed, folder)
            (folder / "done").touch()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))


def loop(deed: str, folder: Path, url: str | None) -> None:
    with opened(folder, url) as vault:
        print("open", flush=True)  # noqa: T201 - the test listens
        for turn in count():
            DEEDS[deed](vault, turn)
            print(turn, flush=True)  # noqa: T201 - the test listens


def crowd(folder: Path, url: str | None) -> None:
    with opened(folder, url) as vault, ThreadPoolExecutor(8) as threads:
        print("open", flush=True)  # noqa: T201 - the test listens
        someone = template()

        def enroll_many(thread: int) -> None:
            for turn in count():
                vault.add(f"new {thread} {turn}", someone)
                os.write(1, f"new {thread} {turn}\n".encode())  # one write: never half a line

        list(threads.map(enroll_many, range(8)))


if __name__ == "__main__":
    mode, deed, first, *rest = sys.argv[1:]
    if mode == "points":
        points(deed, Path(first), Path(rest[0]))
    elif mode == "crowd":
        crowd(Path(first), rest[0] if rest else None)
    else:
        loop(deed, Path(first), rest[0] if rest else None)
