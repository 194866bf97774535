"""Write the dashboard's simulated wearers, as OpenEarable files: ``python docs/make_wearers.py``.

Each has a first session, long enough to enroll from, and a later one with the earphone put in anew.
"""

import struct
from pathlib import Path

import numpy as np

import acclock
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import STANDARD_GRAVITY, FloatArray

FOLDER = Path(acclock.__file__).parent / "service" / "dashboard" / "wearers"
WEARERS = {"ada": 0, "ben": 1, "cleo": 2}
DURATIONS_S = (140.0, 70.0)
BONE_CONDUCTION, VERSION, BEGIN_US, PERIOD_US, TOGETHER = 7, 2, 1_700_000_000_000_000, 10_000, 6


def pack(samples: FloatArray) -> bytes:
    """Give samples at 100 Hz as the bone-conduction accelerometer would have written them."""
    counts = np.rint(samples.T / STANDARD_GRAVITY * 16384.0).clip(-32768, 32767).astype("<i2")
    packets = [struct.pack("<HQ", VERSION, BEGIN_US)]
    for start in range(0, len(counts) // TOGETHER * TOGETHER, TOGETHER):
        payload = counts[start : start + TOGETHER].tobytes() + struct.pack("<H", PERIOD_US)
        time_us = BEGIN_US + start * PERIOD_US
        packets.append(struct.pack("<BBQ", BONE_CONDUCTION, len(payload), time_us) + payload)
    return b"".join(packets)


def main() -> None:
    """Write every session of every wearer."""
    FOLDER.mkdir(exist_ok=True)
    for name, index in WEARERS.items():
        for session, duration_s in enumerate(DURATIONS_S):
            scene = Scene(duration_s=duration_s, session=session, rate_hz=100.0)
            samples = simulate(draw_person(index), scene).recording.samples
            (FOLDER / f"{name}-{session + 1}.oe").write_bytes(pack(samples))


if __name__ == "__main__":
    main()
