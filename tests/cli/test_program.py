import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import typer

from acclock.cli.program import COMMANDS, build, outline

PROGRAM = Path(sys.executable).with_name("acclock")
ENVIRONMENT = os.environ | {"NO_COLOR": "1", "COLUMNS": "100"}


def acclock(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program as a user would."""
    return subprocess.run(  # noqa: S603 - our own program
        [str(PROGRAM), *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def wearer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One minute of a simulated wearer."""
    file = tmp_path_factory.mktemp("wearer") / "anna.npz"
    assert acclock("simulate", file).returncode == 0
    return file


def test_help_names_every_command() -> None:
    ran = acclock("--help")

    assert ran.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"^\W*{command} ", ran.stdout, re.MULTILINE), command


def test_help_says_of_a_command_what_the_command_says() -> None:
    outlined = typer.main.get_command(outline())
    loaded = typer.main.get_command(build(COMMANDS))

    context = typer.Context(loaded)
    for name in COMMANDS:
        shown, meant = (app.get_command(context, name) for app in (outlined, loaded))  # type: ignore[attr-defined]
        assert shown.help == " ".join(meant.help.partition("\n\n")[0].split()), name
        assert shown.help


def test_help_loads_no_command() -> None:
    script = (
        "import sys\n"
        "from acclock.cli.program import COMMANDS, outline\n"
        "outline()\n"
        "print([name for name in COMMANDS.values()"
        "  if 'acclock.cli.' + name.split(':')[0] in sys.modules],"
        " 'numpy' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603

    assert ran.stdout.strip() == "[] False", ran.stderr


def test_the_version_is_printed() -> None:
    ran = acclock("--version")

    assert (ran.returncode, ran.stdout) == (0, f"acclock {version('acclock')}\n")


def test_an_unknown_command_is_named() -> None:
    ran = acclock("fly")

    assert ran.returncode == 2
    assert "fly" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("arguments", [[], ["info"], ["simulate", "x.npz", "--movement", "fly"]])
def test_misuse_exits_with_2_and_no_traceback(arguments: list[str], tmp_path: Path) -> None:
    ran = acclock(*arguments, cwd=tmp_path)

    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_info_reads_what_simulate_wrote(wearer: Path) -> None:
    facts = json.loads(acclock("info", wearer, "--fiducials", "--json").stdout)

    assert facts["rate_hz"] == 100.0
    assert facts["unit"] == "m/s²"
    assert facts["duration_s"] == 60.0
    assert facts["gaps"] == []
    assert facts["heartbeat_is_clear"]
    with np.load(wearer) as stored:
        true_bpm = 60.0 / np.diff(stored["extra_beat_times_s"]).mean()
    assert abs(facts["heart_rate_bpm"] - true_bpm) < 3.0
    points = {point["name"]: point for point in facts["fiducials"]}
    assert points["J"]["after_j_ms"] == 0.0
    assert {"H", "I", "J", "K", "L"} <= set(points)


def test_info_for_people_says_the_same_as_for_programs(wearer: Path) -> None:
    ran = acclock("info", wearer)

    assert ran.returncode == 0
    assert "heart rate bpm" in ran.stdout
    assert "clearest axis" in ran.stdout


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    ran = acclock("info", tmp_path / "nobody.npz")

    assert ran.returncode == 2
    assert ran.stderr.startswith("acclock: ")
    assert "nobody.npz" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_simulate_writes_people_and_sessions(tmp_path: Path) -> None:
    ran = acclock(
        "simulate", tmp_path / "cohort", "--people", 2, "--sessions", 2, "--minutes", 0.2, "--json"
    )

    written = sorted((tmp_path / "cohort").rglob("*.npz"))
    assert ran.returncode == 0, ran.stderr
    assert sorted(json.loads(ran.stdout)["written"]) == [str(path) for path in written]
    assert len(written) == 4
    facts = json.loads(acclock("info", tmp_path / "cohort", "--json").stdout)
    assert (facts["people"], facts["recordings"]) == (2, 4)


def test_simulate_does_not_write_over_anything(wearer: Path, tmp_path: Path) -> None:
    before = wearer.read_bytes()
    (tmp_path / "here").mkdir()

    for out, more in ((wearer, []), (tmp_path / "here", []), (tmp_path / "a.npz", ["--people", 2])):
        ran = acclock("simulate", out, *more)
        assert ran.returncode == 2
        assert len(ran.stderr.splitlines()) == 1

    assert wearer.read_bytes() == before
    assert list(tmp_path.rglob("*.npz")) == []


def test_plot_draws_a_picture_or_nothing(wearer: Path, tmp_path: Path) -> None:
    drawn = acclock("plot", wearer, "--out", tmp_path / "wearer.png")
    refused = acclock("plot", wearer, "--out", tmp_path / "wearer.xyz")

    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "wearer.png").read_bytes().startswith(b"\x89PNG")
    assert refused.returncode == 2
    assert "xyz" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["wearer.png"]


def test_doctor_finds_what_the_tests_need() -> None:
    findings = json.loads(acclock("doctor", "--json").stdout)

    assert findings["acclock[plot]"]["works"]
    assert findings["acclock.denoising._kernels"]["works"]


def test_demo_shows_the_true_heart_rate_and_a_story_that_ends_well(tmp_path: Path) -> None:
    facts = json.loads(acclock("demo", "--json", cwd=tmp_path).stdout)

    assert abs(facts["heart_rate_bpm"] - facts["true_heart_rate_bpm"]) < 2.0
    for picture in facts["pictures"]:
        assert (tmp_path / picture).is_file()
    assert facts["the_same_person_in_a_later_session"] == "accept"
    assert facts["another_person"] == "reject"
    assert facts["open_after_a_few_steps"]
    assert facts["locked_after_removal_s"] <= 2.0
    assert facts["open_for_the_stranger_s"] == 0.0
    assert facts["open_again_after_s"] is not None


def test_interrupting_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [
        str(PROGRAM),
        "simulate",
        str(tmp_path / "many"),
        "--people",
        "200",
        "--minutes",
        "9",
    ]
    running = subprocess.Popen(  # noqa: S603 - our own program
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60.0
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)  # until it writes

    os.killpg(running.pid, signal.SIGINT)
    _, complaint = running.communicate(timeout=60)

    assert running.returncode == 130
    assert "Traceback" not in complaint
    assert list(tmp_path.iterdir()) == []


def test_start_up_loads_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from acclock.cli.program import COMMANDS, build\n"
        "build(COMMANDS)\n"
        "print([name for name in ('torch', 'scipy', 'pandas', 'matplotlib', 'numba')"
        " if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603

    assert ran.stdout.strip() == "[]", ran.stderr
