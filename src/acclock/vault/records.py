"""Templates and recordings as bytes and back, templates turned by a secret rotation."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from acclock.matching.template import Template
from acclock.matching.threshold import Rule
from acclock.values import FloatArray, Recording


@lru_cache(maxsize=8)
def rotation(seed: bytes, width: int) -> FloatArray:
    """Give the orthogonal matrix that belongs to a secret seed. Read-only.

    Uniform over all of them (Haar): the Q of a matrix of independent normal numbers, with the
    signs of R taken out. The numbers come from AES and not from NumPy's generators, whose
    streams may change from one version to the next: then no stored template would ever fit.
    """
    orthogonal, triangular = np.linalg.qr(
        _normal_numbers(seed, width * width).reshape(width, width)
    )
    turned = orthogonal * np.sign(np.diag(triangular))
    turned.flags.writeable = False
    return turned


def _normal_numbers(seed: bytes, count: int) -> FloatArray:
    """Give normally distributed numbers by Box and Muller from the key stream of AES-256."""
    pairs = (count + 1) // 2
    stream = Cipher(AES256(seed), CTR(bytes(16))).encryptor().update(bytes(16 * pairs))
    # The upper 53 bits are what a float holds; half a step keeps the logarithm finite.
    uniform = ((np.frombuffer(stream, "<u8") >> 11) + 0.5) * 2.0**-53
    radius, angle = np.sqrt(-2.0 * np.log(uniform[:pairs])), 2.0 * np.pi * uniform[pairs:]
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]


def pack_template(template: Template, turn: FloatArray) -> bytes:
    """Write a template down, turned by the vault's secret rotation."""
    return _dump(
        {
            "model": template.model,
            "center": _text(template.center @ turn),
            "anchor": _text(template.anchor @ turn),
            "threshold": template.threshold,
            "spread": template.spread,
            "user_distances": _text(template.user_distances),
            "rule": asdict(template.rule),
            "goal": template.goal,
            "enrolled": template.enrolled.isoformat(),
            "updated": template.updated.isoformat(),
        }
    )


def unpack_template(packed: bytes, turn_of_width: Callable[[int], FloatArray]) -> Template:
    """Give back a template as it was before it was turned, to the last digits of rounding."""
    kept = json.loads(packed)
    both = np.stack([_numbers(kept["center"]), _numbers(kept["anchor"])])
    center, anchor = both @ turn_of_width(both.shape[1]).T
    return Template(
        model=kept["model"],
        center=center,
        anchor=anchor,
        threshold=kept["threshold"],
        spread=kept["spread"],
        user_distances=_numbers(kept["user_distances"]),
        rule=Rule(**kept["rule"]),
        goal=kept["goal"],
        enrolled=datetime.fromisoformat(kept["enrolled"]),
        updated=datetime.fromisoformat(kept["updated"]),
    )


def pack_recording(recording: Recording) -> bytes:
    """Write a recording down, without the names in it."""
    return _dump(
        {
            "samples": _text(recording.samples, "<f4"),
            "received": b64encode(np.packbits(recording.received).tobytes()).decode("ascii"),
            "rate_hz": recording.rate_hz,
            "sampled_hz": recording.sampled_hz,
            "start": None if recording.start is None else recording.start.isoformat(),
            "device": recording.device,
            "ear": recording.ear,
        }
    )


def unpack_recording(packed: bytes) -> Recording:
    """Give back a recording; its samples were rounded to 32 bits."""
    kept = json.loads(packed)
    samples = _numbers(kept["samples"], "<f4").reshape(3, -1)
    received = np.frombuffer(b64decode(kept["received"]), np.uint8)
    start = kept["start"]
    return Recording(
        samples=samples,
        rate_hz=kept["rate_hz"],
        sampled_hz=kept.get("sampled_hz"),  # recordings of older versions do not say
        received=np.unpackbits(received, count=samples.shape[1]).astype(bool),
        start=None if start is None else datetime.fromisoformat(start),
        device=kept["device"],
        ear=kept["ear"],
    )


def readable(packed: bytes) -> dict[str, object]:
    """Give what is stored as plain numbers, for the person whom it is about."""
    kept: dict[str, object] = json.loads(packed)
    for name, kind in (("center", "<f8"), ("anchor", "<f8"), ("user_distances", "<f8")):
        if name in kept:
            kept[name] = _numbers(str(kept[name]), kind).tolist()
    if "samples" in kept:
        kept["samples"] = _numbers(str(kept["samples"]), "<f4").reshape(3, -1).tolist()
    return kept


def _dump(kept: dict[str, object]) -> bytes:
    return json.dumps(kept, separators=(",", ":"), allow_nan=False).encode()


def _text(numbers: NDArray[np.float64], kind: str = "<f8") -> str:
    return b64encode(numbers.astype(kind).tobytes()).decode("ascii")


def _numbers(text: str, kind: str = "<f8") -> FloatArray:
    return np.frombuffer(b64decode(text), kind).astype(np.float64)
