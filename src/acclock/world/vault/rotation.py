"""A secret turn of the embedding space, so that what a vault holds fits nowhere else."""

from functools import lru_cache

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from acclock.values import FloatArray


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
