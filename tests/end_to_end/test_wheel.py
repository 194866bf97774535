import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, folder: Path) -> str:
    """Run a program away from the sources and give what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(  # noqa: S603 - our own programs
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout


def test_what_ships_works_alone(tmp_path: Path) -> None:
    built, home = tmp_path / "dist", tmp_path / "clean"
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", built, ROOT)
    run(*build, folder=tmp_path)
    venv.create(home, with_pip=True)
    constraints = ROOT / "constraints.txt"
    wheel = next(built.glob("*.whl"))
    run(home / "bin/pip", "install", "-q", "-c", constraints, wheel, folder=tmp_path)

    findings = json.loads(run(home / "bin/acclock", "doctor", "--json", folder=tmp_path))
    run(home / "bin/acclock", "simulate", "anna.npz", "--minutes", "0.5", folder=tmp_path)
    facts = json.loads(run(home / "bin/acclock", "info", "anna.npz", "--json", folder=tmp_path))

    assert findings["acclock.denoising._kernels"]["works"]
    assert findings["acclock.world.files._numbers"]["works"]
    assert facts["rate_hz"] == 100.0
    assert facts["heartbeat_is_clear"] is True
