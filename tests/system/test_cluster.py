"""What is said when there is no cluster to join."""

import socket
import subprocess
import sys

import pytest

from acclock.errors import ClusterError
from acclock.system.cluster import joined


def test_an_address_where_nobody_answers_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(ClusterError, match=f"no Ray cluster answers at 127.0.0.1:{port}"):
        joined(f"127.0.0.1:{port}").__enter__()


@pytest.mark.parametrize("address", ["nonsense", "ray://127.0.0.1:10001", ":6379", "host:"])
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(ClusterError, match="is host:port or auto"):
        joined(address).__enter__()


@pytest.mark.parametrize(
    "arguments",
    [
        ["experiment", "run", "users", "--engine", "ray"],
        ["serve", "--engine", "ray", "--database", "postgresql://nowhere/none"],
    ],
)
def test_without_ray_the_extra_is_named(arguments: list[str]) -> None:
    script = (
        "import sys; sys.modules['ray'] = None\n"
        f"sys.argv = ['acclock', *{arguments}]\n"
        "from acclock.cli.program import main; main()"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.strip() == (
        "acclock: this needs ray, which is not installed: `pip install acclock[cluster]`"
    )
