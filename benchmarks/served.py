"""A service of its own for a benchmark, and what the system knows about its processes."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx

from acclock.matching.enrollment import enroll
from acclock.models.catalog import ModelCatalog
from acclock.service.auth.starting import open_tokens
from acclock.simulation import Scene, draw_person, simulate
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault

SERVE = (
    "from acclock.service.config import ServiceConfig\n"
    "from acclock.service.serving import listen, serve\n"
    "from pathlib import Path; import sys\n"
    "config = ServiceConfig(folder=Path(sys.argv[1]), port=0, workers=int(sys.argv[2]),\n"
    "    most_streams=100_000, streams_per_minute=1_000_000,\n"
    "    connections_per_token=100_000, connections_per_address=100_000)\n"
    "sockets = listen(config); print(sockets[0].getsockname()[1], flush=True)\n"
    "serve(config, sockets)\n"
)


def enroll_people(folder: Path, count: int, *, hearts: int) -> str:
    """Enroll ``user 0``, ``user 1`` ... with so many simulated hearts; give an operator's token."""
    with open_vault(folder, key_store=KeyFile(folder / "vault.key")) as vault:
        model, templates = ModelCatalog().named("default"), []
        for person in range(hearts):
            recording = simulate(draw_person(person), Scene(duration_s=130.0)).recording
            windows = model.observe(recording).good
            templates.append(enroll(windows, cohort=model.cohort, now=datetime.now(UTC)))
        vault.add_all({f"user {place}": templates[place % hearts] for place in range(count)})
    with open_tokens(open_vault(folder)) as tokens:
        return tokens.create(
            "operator", lasting="1d", person=None, may_grant=False, note="benchmark"
        )[0]


@dataclass(frozen=True, kw_only=True)
class Served:
    """A service that runs, with all its workers."""

    pid: int
    port: int
    token: str
    ready_s: float
    """How long it took from its start until it was ready."""

    @property
    def pids(self) -> list[int]:
        """The processes that serve; where there are workers, not the one that watches them."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii").split()
        serving = [one for one in map(int, children) if b"spawn_main" in _read(one, "cmdline")]
        return serving or [self.pid]

    def cpu_s(self) -> float:
        """Seconds of processor time so far."""
        fields = [_read(pid, "stat").rsplit(b")", 1)[1].split() for pid in self.pids]
        return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Resident memory."""
        pages = sum(int(_read(pid, "statm").split()[1]) for pid in self.pids)
        return pages * resource.getpagesize() / 1e6

    def files(self) -> int:
        """Open file handles."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids)  # noqa: PTH208

    def threads(self) -> int:
        return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in self.pids)  # noqa: PTH208

    def metric(self, name: str) -> float:
        """Give the sum of a metric over its kinds, of the worker that happens to answer."""
        told = httpx.get(
            f"http://127.0.0.1:{self.port}/metrics",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=30,
            trust_env=False,
        ).text
        lines = [line.rsplit(" ", 1) for line in told.splitlines() if line.startswith(name)]
        return sum(float(value) for _, value in lines)


@contextmanager
def serving(folder: Path, token: str, workers: int) -> Iterator[Served]:
    """Run a service until the end of the block."""
    begun_s = time.monotonic()
    command = [sys.executable, "-c", SERVE, str(folder), str(workers)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:  # noqa: S603
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            ready = f"http://127.0.0.1:{port}/v1/ready"
            for _ in range(4 * workers):  # the kernel deals calls out to all of them
                while httpx.get(ready, timeout=120, trust_env=False).status_code != 200:
                    time.sleep(0.05)
            yield Served(pid=server.pid, port=port, token=token, ready_s=time.monotonic() - begun_s)
        finally:
            server.terminate()


def stolen_s() -> float:
    """Seconds for which a core of this machine had work and its host let another guest run."""
    fields = Path("/proc/stat").read_text("ascii").split(maxsplit=9)
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def _read(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()
