"""The keys that sign what AccLock says, each in a file that only its owner reads."""

import json
import os
import tempfile
from pathlib import Path
from typing import Literal

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, KeySet, OKPKey, import_key

from acclock.errors import GrantError
from acclock.system.files import make_private_folder, open_to_others, sync_folder

Purpose = Literal["events", "grants", "assertions"]
PURPOSES: tuple[Purpose, ...] = ("events", "grants", "assertions")
ALGORITHMS = {"OKP": "Ed25519", "EC": "ES256", "RSA": "RS256"}
"""What signs by which kind of key. An RSA key is never made here, but one put in place is used."""


def signing_key(folder: Path, purpose: Purpose) -> Key:
    """Give the key for a purpose, made when there is none."""
    path = folder / f"{purpose}.jwk"
    make_private_folder(folder)
    if not path.exists():
        _keep(path, _new_key(purpose))
    return _load(path)


def known_key(folder: Path, purpose: Purpose) -> Key:
    """Give the key for a purpose, which must be there: who asks does not sign."""
    path = folder / f"{purpose}.jwk"
    if not path.exists():
        raise GrantError(f"there is no key {path}; the monitor makes it when it first runs")
    return _load(path)


def algorithm(key: Key) -> str:
    """Give the name of the signature that a key makes."""
    return ALGORITHMS[key.key_type]


def public_keys(folder: Path, purpose: Purpose) -> dict[str, object]:
    """Give what a receiver needs to check the signatures: a JSON Web Key Set."""
    return dict(KeySet([signing_key(folder, purpose)]).as_dict(private=False))


def _new_key(purpose: Purpose) -> Key:
    # receivers of security events know ES256; what stays on this machine is Ed25519
    if purpose == "events":
        return ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True)
    return OKPKey.generate_key("Ed25519", {"use": "sig", "alg": "Ed25519"}, auto_kid=True)


def _keep(path: Path, key: Key) -> None:
    try:
        handle, hidden = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # born 0600
    except OSError as error:
        raise GrantError(f"cannot write the key {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(key.as_dict(private=True)).encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
        os.link(hidden, path)  # unlike a rename, never replaces the key of who came first
        sync_folder(path.parent)
    except FileExistsError:
        pass
    except OSError as error:
        raise GrantError(f"cannot write the key {path}: {error.strerror}") from error
    finally:
        Path(hidden).unlink()


def _load(path: Path) -> Key:
    try:
        if open_to_others(path):
            raise GrantError(f"others may read the key {path}: `chmod 600` it, or remove it")
        key = import_key(json.loads(path.read_bytes()))
    except OSError as error:
        raise GrantError(f"cannot read the key {path}: {error.strerror}") from error
    except (ValueError, TypeError, JoseError) as error:
        raise GrantError(f"{path} is not a key; remove it to have a new one made") from error
    if key.key_type not in ALGORITHMS:
        raise GrantError(f"{path} holds a key that cannot sign; it needs Ed25519, P-256 or RSA")
    key.ensure_kid()
    return key
