"""What every test may ask for."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from hypothesis import settings

from acclock.system.cluster import load_ray

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

# Who starts the tests in the background may have them ignore interrupts, and with them every
# program that they start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("acclock", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("acclock")


def _skip_or_fail(what: str) -> NoReturn:
    if os.environ.get("ACCLOCK_REQUIRE_ALL") == "1":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def absent() -> Callable[[str], NoReturn]:
    """Skip with a clear line; where everything must be there, fail instead."""
    return _skip_or_fail


@pytest.fixture(scope="session")
def data_folder(absent: Callable[[str], NoReturn]) -> Path:
    """Where the real recordings lie (the environment variable ACCLOCK_DATA says)."""
    named = os.environ.get("ACCLOCK_DATA")
    if named is None:
        absent("ACCLOCK_DATA does not name the folder of the real recordings")
    folder = Path(named)
    if not folder.is_dir():
        absent(f"ACCLOCK_DATA names {folder}, which is not a folder")
    return folder


class Mosquitto:
    """A real MQTT broker on a loopback port, which can be stopped and started again."""

    host = "127.0.0.1"

    def __init__(self, program: str, folder: Path) -> None:
        with socket.create_server((self.host, 0)) as free:
            self.port: int = free.getsockname()[1]
        self._config = folder / "mosquitto.conf"
        self._config.write_text(f"listener {self.port} {self.host}\nallow_anonymous true\n")
        # The shell waits for the end of its input, so that the broker never outlives the tests.
        server = f"{program} -c {self._config} >{folder}/log 2>&1 </dev/null"
        self._command = ["sh", "-c", f"{server} & read _; kill -KILL $!; wait"]
        self._shell: subprocess.Popen[bytes] | None = None

    def start(self) -> bool:
        self._shell = subprocess.Popen(self._command, stdin=subprocess.PIPE)  # noqa: S603
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex((self.host, self.port)) == 0:
                    return True
            time.sleep(0.05)
        return False

    def stop(self) -> None:
        """Kill it, as a power cut would."""
        if self._shell is not None:
            self._shell.communicate()
            self._shell = None


@pytest.fixture
def mosquitto(absent: Callable[[str], NoReturn], tmp_path: Path) -> Iterator[Mosquitto]:
    """A running MQTT broker of the test's own."""
    program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        absent("there is no MQTT broker (Debian: mosquitto)")
    folder = tmp_path / "mosquitto"
    folder.mkdir()
    broker = Mosquitto(program, folder)
    if not broker.start():
        absent(f"mosquitto does not start: {(folder / 'log').read_text()[-300:]}")
    yield broker
    broker.stop()


class Postgres:
    """A real server in a temporary folder, reached through a socket in it."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.folder, self._programs = folder, programs
        self._user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
        if self._user is not None:
            shutil.chown(folder, self._user)
        # The shell waits for the end of its input, so that the server never outlives the tests.
        place = f"-D {folder}/data -k {folder} -c listen_addresses= -c fsync=off"
        server = f"{programs}/postgres {place} >>{folder}/log 2>&1 </dev/null"
        self._command = ["sh", "-c", f"{server} & read _; kill -QUIT $!; wait"]
        self._shell: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://acclock@/postgres?host={self.folder}"

    def make(self) -> str:
        """Make the database; give what was complained about."""
        data = f"{self.folder}/data"
        make = [f"{self._programs}/initdb", "-D", data, "-U", "acclock", "-A", "trust", "-N"]
        made = subprocess.run(  # noqa: S603
            make, user=self._user, cwd=self.folder, capture_output=True, text=True
        )
        return made.stderr[-300:] if made.returncode else ""

    def start(self) -> bool:
        self._shell = subprocess.Popen(  # noqa: S603
            self._command, user=self._user, cwd=self.folder, stdin=subprocess.PIPE
        )
        ready = [f"{self._programs}/pg_isready", "-q", "-h", str(self.folder)]
        for _ in range(300):
            if subprocess.run(ready, check=False).returncode == 0:  # noqa: S603
                return True
            time.sleep(0.1)
        return False

    def stop(self) -> None:
        """End it at once, without a goodbye to anybody (`pg_ctl stop -m immediate`)."""
        if self._shell is not None:
            self._shell.communicate()
            self._shell = None


@contextmanager
def _running_postgres(absent: Callable[[str], NoReturn]) -> Iterator[Postgres]:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not versions:
        absent("there is no PostgreSQL server in /usr/lib/postgresql (Debian: postgresql)")
    server = Postgres(versions[-1].parent, Path(tempfile.mkdtemp(prefix="acclock-pg-")))
    if complaint := server.make():
        absent(f"PostgreSQL makes no database: {complaint}")
    if not server.start():
        absent(f"PostgreSQL does not start: {(server.folder / 'log').read_text()[-300:]}")
    yield server
    server.stop()
    shutil.rmtree(server.folder)


@pytest.fixture(scope="session")
def postgres(absent: Callable[[str], NoReturn]) -> Iterator[str]:
    """The address of a server that all tests share."""
    with _running_postgres(absent) as server:
        yield server.url


@pytest.fixture
def own_postgres(absent: Callable[[str], NoReturn]) -> Iterator[Postgres]:
    """A server of the test's own, which it may stop and start again."""
    with _running_postgres(absent) as server:
        yield server


@pytest.fixture(scope="module")
def ray_nodes() -> Iterator["Cluster"]:
    """A Ray cluster of two nodes with a core each, on addresses that never leave this machine."""
    load_ray()
    from ray.cluster_utils import Cluster

    head = {"node_ip_address": "127.0.0.2", "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.add_node(node_ip_address="127.0.0.3")
    yield cluster
    cluster.shutdown()
