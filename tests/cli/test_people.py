"""The story of a vault, told by commands: everything a new user does, and does wrong."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from acclock.recordings import write
from acclock.simulation import Scene, draw_person, simulate

PROGRAM = Path(sys.executable).with_name("acclock")
SEED = 77
"""Of people whom no model has learned from."""


class Home:
    """A user's vault, and the program run on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"ACCLOCK_HOME": str(folder / "vault"), "NO_COLOR": "1"}

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            [str(PROGRAM), *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def answer(self, *arguments: object) -> dict[str, object]:
        ran = self.run(*arguments, "--json")
        assert ran.returncode in (0, 1), ran.stderr
        told: dict[str, object] = json.loads(ran.stdout)
        return told

    def refused(self, *arguments: object) -> str:
        ran = self.run(*arguments)
        assert ran.returncode == 2, ran.stdout + ran.stderr
        assert len(ran.stderr.splitlines()) == 1
        assert "Traceback" not in ran.stderr
        return ran.stderr


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated people, two sessions each."""
    folder = tmp_path_factory.mktemp("recordings")
    for person, name in enumerate(("anna", "ben")):
        for session in range(2):
            scene = Scene(duration_s=180.0, session=session)
            worn = simulate(draw_person(person, seed=SEED), scene, seed=SEED)
            write(worn.recording, folder / f"{name}-{session}.npz")
    return folder


@pytest.fixture
def home(tmp_path: Path, recordings: Path) -> Home:
    """A vault in which Anna is enrolled."""
    made = Home(tmp_path)
    assert made.run("enroll", "anna", recordings / "anna-0.npz").returncode == 0
    return made


def test_the_person_is_known_again_and_another_is_not(home: Home, recordings: Path) -> None:
    again = home.run("verify", "anna", recordings / "anna-1.npz")
    stranger = home.run("verify", "anna", recordings / "ben-0.npz")

    assert (again.returncode, stranger.returncode) == (0, 1), again.stdout + stranger.stdout


def test_numbers_are_told_only_when_asked_for(home: Home, recordings: Path) -> None:
    plain = home.answer("verify", "anna", recordings / "anna-1.npz")
    detailed = home.answer("verify", "anna", recordings / "anna-1.npz", "--details")

    assert set(plain) == {"verified", "decision", "reason", "confidence", "model"}
    assert {"distance", "threshold"} <= set(detailed)


def test_identify_names_the_enrolled_and_says_unknown_of_others(
    home: Home, recordings: Path
) -> None:
    assert home.answer("identify", recordings / "anna-1.npz")["name"] == "anna"
    assert home.answer("identify", recordings / "ben-0.npz")["name"] == "unknown"


def test_removing_forgets(home: Home, recordings: Path) -> None:
    assert home.answer("list")["people"] != "nobody is enrolled"

    home.answer("remove", "anna", "--yes")

    assert home.answer("list")["people"] == "nobody is enrolled"
    assert "anna" in home.refused("verify", "anna", recordings / "anna-1.npz")


def test_removing_without_a_terminal_needs_yes(home: Home) -> None:
    assert "add --yes" in home.refused("remove", "anna")

    assert home.answer("show", "anna")["name"] == "anna"


@pytest.mark.parametrize(("typed", "code", "stays"), [(b"n\n", 1, True), (b"y\n", 0, False)])
def test_removing_asks_at_a_terminal(home: Home, typed: bytes, code: int, stays: bool) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, typed)

    ran = subprocess.run(  # noqa: S603 - our own program
        [str(PROGRAM), "remove", "anna"], env=home.environment, stdin=theirs, capture_output=True
    )
    os.close(ours)
    os.close(theirs)

    assert b"Forget anna" in ran.stderr
    assert ran.returncode == code
    assert (home.run("show", "anna").returncode == 0) is stays


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"], ["show", "anna"], ["verify", "anna", "x.npz"], ["identify", "x.npz"],
        ["update", "anna", "x.npz"], ["enroll", "anna", "x.npz", "--add"], ["rollback", "anna", 1],
        ["remove", "anna", "--yes"], ["export-person", "anna", "out.json"], ["backup", "out.db"],
        ["rotate-keys"], ["token", "list"], ["token", "create", "operator"], ["keys"],
        ["monitor", "anna", "--source", "simulate:wear anna 9 s"], ["accept-state", "--yes"],
    ],
    ids=lambda words: " ".join(map(str, words)),
)  # fmt: skip
def test_a_typo_in_the_place_of_the_vault_makes_none(
    tmp_path: Path, arguments: list[object]
) -> None:
    home = Home(tmp_path)

    refusal = home.refused(*arguments, "--vault", tmp_path / "vualt")

    assert refusal == f"acclock: there is no vault at {tmp_path / 'vualt'}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_grant_at_a_typo_makes_no_key(tmp_path: Path) -> None:
    refusal = Home(tmp_path).refused("grant", "anna", "--vault", tmp_path / "vualt")

    assert "there is no key" in refusal
    assert list(tmp_path.iterdir()) == []


def test_a_vault_without_its_count_opens_again_when_an_operator_accepts_it(home: Home) -> None:
    (home.folder / "vault" / "vault.head").unlink()

    assert "acclock accept-state" in home.refused("list")
    assert "add --yes" in home.refused("accept-state")
    assert home.answer("accept-state", "--yes") == {"accepted": True, "people": 1}
    assert home.answer("show", "anna")["name"] == "anna"


def test_a_backup_brings_back_what_was_removed(home: Home) -> None:
    home.answer("backup", "copy.db")
    home.answer("remove", "anna", "--yes")

    restored = home.answer("restore", "copy.db")

    assert restored["people"] == 1
    assert home.answer("show", "anna")["name"] == "anna"


def test_versions_are_kept_through_updates_and_rollback(home: Home, recordings: Path) -> None:
    stayed = home.answer("update", "anna", recordings / "anna-1.npz")
    home.answer("enroll", "anna", recordings / "anna-1.npz", "--add")

    rolled_back = home.answer("rollback", "anna", 1)

    assert stayed["changed"] is False  # the template is not a week old
    assert rolled_back["version"] == 3


def test_keys_rotate_and_templates_are_reissued(home: Home, recordings: Path) -> None:
    home.answer("rotate-keys")
    home.answer("rotate-keys", "--reissue")

    assert home.run("verify", "anna", recordings / "anna-1.npz").returncode == 0


def test_a_person_can_have_all_that_is_stored_about_them(home: Home) -> None:
    home.answer("export-person", "anna", "anna.json")

    told = json.loads((home.folder / "anna.json").read_text())
    assert told["name"] == "anna"
    assert len(told["templates"]) == 1


def test_mistakes_are_sentences_and_change_nothing(home: Home, recordings: Path) -> None:
    before = home.answer("show", "anna")

    assert "taken" in home.refused("enroll", "anna", recordings / "anna-1.npz")
    assert "nobody" in home.refused("verify", "nobody", recordings / "anna-1.npz").lower()
    home.refused("enroll", "", recordings / "anna-1.npz")
    home.refused("enroll", "../x\n", recordings / "anna-1.npz")
    home.refused("verify", "anna", "nothing.npz")
    home.refused("verify", "anna", recordings / "anna-1.npz", "--model", "no-such-model")
    home.refused("rollback", "anna", 9)
    home.refused("restore", recordings / "anna-0.npz")

    assert home.answer("show", "anna") == before


@pytest.fixture(scope="module")
def airpods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions of somebody whose earphone samples at 25 Hz."""
    folder = tmp_path_factory.mktemp("airpods")
    for session in range(2):
        scene = Scene(duration_s=180.0, session=session, rate_hz=25.0)
        worn = simulate(draw_person(2, seed=SEED), scene, seed=SEED)
        write(worn.recording, folder / f"cara-{session}.npz")
    return folder


def test_who_wears_airpods_names_no_model(home: Home, recordings: Path, airpods: Path) -> None:
    enrolled = home.run("enroll", "cara", airpods / "cara-0.npz")
    again = home.run("verify", "cara", airpods / "cara-1.npz")
    other = home.run("verify", "anna", recordings / "anna-1.npz")

    assert "model default-25: the samples were taken at 25 Hz" in enrolled.stdout
    assert "model default-25: cara was enrolled with it" in again.stdout
    assert "model default: anna was enrolled with it" in other.stdout
    assert (enrolled.returncode, again.returncode, other.returncode) == (0, 0, 0)
    found = home.answer("identify", airpods / "cara-1.npz")
    assert found["name"] == "cara"
    assert "taken at 25 Hz" in str(found["not_compared"])
    assert "default-25" in str(home.answer("list"))
    assert "acclock migrate" in home.refused(
        "verify", "anna", recordings / "anna-1.npz", "--model", "default-25"
    )


def test_models_of_the_settings_enroll_and_recognize(home: Home, recordings: Path) -> None:
    home.environment["ACCLOCK_MODEL"] = "default-50"
    home.answer("enroll", "ben", recordings / "ben-0.npz")

    assert home.answer("show", "ben")["model"] == "default-50"
    assert home.answer("verify", "anna", recordings / "anna-1.npz")["model"] == "default"
    home.environment["ACCLOCK_MODEL"] = "nothere"
    assert "there is no model 'nothere'" in home.refused("identify", recordings / "anna-1.npz")


def test_templates_are_carried_over_from_kept_recordings_and_back(
    home: Home, recordings: Path
) -> None:
    home.answer("enroll", "ben", recordings / "ben-0.npz", "--keep", "--model", "default-25")

    done = home.run("migrate", "--all", "--json")
    again = home.answer("migrate", "ben")

    told = json.loads(done.stdout)
    assert told["migrated"] == [{"name": "ben", "version": 2, "model": "default"}]
    assert [one["name"] for one in told["left_as_they_were"]] == ["anna"]
    assert done.returncode == 1
    assert again["had_that_model"] == ["ben"]
    assert home.answer("verify", "ben", recordings / "ben-1.npz")["verified"] is True
    home.answer("rollback", "ben", 1)
    assert home.answer("verify", "ben", recordings / "ben-1.npz")["model"] == "default-25"


def test_migrating_says_whom_it_needs(home: Home) -> None:
    assert "--all" in home.refused("migrate")
    assert "--all" in home.refused("migrate", "anna", "--all")
    assert "nobody is enrolled" in home.refused("migrate", "nobody")
