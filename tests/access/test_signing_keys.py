import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from joserfc.jwk import RSAKey

from acclock.access.signing_keys import PURPOSES, algorithm, known_key, public_keys, signing_key
from acclock.errors import GrantError

MAKE = "import sys; from pathlib import Path; from acclock.access.signing_keys import signing_key;"


@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_key_is_made_once_and_read_by_its_owner_alone(purpose: str, tmp_path: Path) -> None:
    folder = tmp_path / "home"

    made = signing_key(folder, purpose)  # type: ignore[arg-type]

    path = folder / f"{purpose}.jwk"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.name for file in folder.iterdir()] == [path.name]
    assert signing_key(folder, purpose).kid == made.kid  # type: ignore[arg-type]


def test_two_processes_at_once_agree_on_the_key(tmp_path: Path) -> None:
    script = MAKE + "print(signing_key(Path(sys.argv[1]), 'events').kid)"
    words = [sys.executable, "-c", script, str(tmp_path / "home")]

    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]  # noqa: S603

    assert len({process.communicate()[0] for process in both}) == 1


def test_what_is_published_holds_no_secret(tmp_path: Path) -> None:
    published = public_keys(tmp_path, "events")["keys"]

    assert isinstance(published, list)
    assert [key.keys() for key in published] == [{"kty", "crv", "x", "y", "kid", "use", "alg"}]


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    signing_key(tmp_path, "grants")
    (tmp_path / "grants.jwk").chmod(0o644)

    with pytest.raises(GrantError, match="others may read the key"):
        signing_key(tmp_path, "grants")


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"kty": "oct", "k": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}', b"\xff"],
)
def test_a_damaged_key_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "grants.jwk"
    path.touch(mode=0o600)
    path.write_bytes(content)

    with pytest.raises(GrantError, match=r"not a key|cannot sign"):
        signing_key(tmp_path, "grants")


def test_an_rsa_key_that_was_put_in_place_signs_by_rs256(tmp_path: Path) -> None:
    path = tmp_path / "events.jwk"
    path.touch(mode=0o600)
    path.write_text(json.dumps(RSAKey.generate_key(2048).as_dict(private=True)))

    assert algorithm(signing_key(tmp_path, "events")) == "RS256"


def test_who_only_asks_makes_no_key(tmp_path: Path) -> None:
    with pytest.raises(GrantError, match="there is no key"):
        known_key(tmp_path, "assertions")


def test_a_key_that_cannot_be_written_is_a_sentence_with_its_own_path() -> None:
    with pytest.raises(GrantError, match=r"^cannot write the key /proc/grants\.jwk: [A-Z][a-z ]+$"):
        signing_key(Path("/proc"), "grants")
