"""What `make wheel` builds works alone: in an environment with nothing but what it asks for."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("Makefile", "pyproject.toml", "setup.py", "constraints.txt", "README.md", "LICENSE")


def run(*command: str | Path, folder: Path) -> str:
    """Run a program away from the sources and give what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(  # noqa: S603 - our own programs
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is checked out, without anything that was built, and its wheel."""
    folder = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    unbuilt = shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=unbuilt)
    run("make", "wheel", f"PYTHON={sys.executable}", folder=folder)
    return folder


@pytest.fixture(scope="module")
def program(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, installed from the wheel without any extra."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=True)
    (wheel,) = (sources / "dist").glob("*.whl")
    constraints = ROOT / "constraints.txt"
    run(home / "bin/pip", "install", "-q", "-c", constraints, wheel, folder=home)
    return home / "bin/acclock"


def list_packages(home: Path) -> set[str]:
    told = json.loads(run(home / "bin/pip", "list", "--format", "json", folder=home))
    return {package["name"] for package in told}


def test_building_a_wheel_needs_nothing_of_what_runs_in_it(sources: Path) -> None:
    needed = list_packages(sources / ".venv-build")

    assert needed <= {"build", "packaging", "pip", "pyproject_hooks", "setuptools"}
    assert not (sources / ".venv").exists()


def test_the_wheel_stays_small(sources: Path) -> None:
    (wheel,) = (sources / "dist").glob("*.whl")

    assert wheel.stat().st_size < 30_000_000


def test_what_ships_works_alone(program: Path, tmp_path: Path) -> None:
    findings = json.loads(run(program, "doctor", "--json", folder=tmp_path))
    run(program, "simulate", "anna.npz", "--minutes", "0.5", folder=tmp_path)
    facts = json.loads(run(program, "info", "anna.npz", "--json", folder=tmp_path))

    assert findings["acclock.denoising._kernels"]["works"]
    assert findings["acclock.recordings._numbers"]["works"]
    assert facts["rate_hz"] == 100.0
    assert facts["heartbeat_is_clear"] is True


def test_the_demo_tells_its_story_without_pictures(program: Path, tmp_path: Path) -> None:
    assert "matplotlib" not in list_packages(program.parents[1])

    told = run(program, "demo", folder=tmp_path)

    assert "pip install acclock[plot]" in told
    assert "the same person in a later session" in told
    assert not list((tmp_path / "demo").glob("*.png"))


@pytest.mark.parametrize(("name", "context"), [("default", 2048), ("default-25", 512)])
def test_the_file_for_a_phone_is_had_without_torch(
    name: str, context: int, program: Path, tmp_path: Path
) -> None:
    assert "torch" not in list_packages(program.parents[1])

    run(program, "export", name, "--onnx", "phone.onnx", "--raw", folder=tmp_path)

    script = (
        "import numpy, onnxruntime\n"
        "session = onnxruntime.InferenceSession('phone.onnx')\n"
        f"noise = numpy.random.default_rng(0).normal(size=(1, 3, {context})).astype('float32')\n"
        "embeddings, qualities = session.run(None, {'contexts': noise})\n"
        "print(embeddings.shape, qualities.shape)\n"
    )
    assert run(program.with_name("python"), "-c", script, folder=tmp_path) == "(1, 512) (1, 4)\n"
