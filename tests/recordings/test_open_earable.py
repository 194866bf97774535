import struct
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acclock.errors import UnreadableError
from acclock.recordings import inspect, read
from acclock.recordings.packets import decode_open_earable, stamp
from acclock.values import STANDARD_GRAVITY, FloatArray

PERIOD_US = 10_000
PER_PACKET = 6


def scheme(sensor: int, name: str, components: list[tuple[int, str, str, str]]) -> bytes:
    def text(word: str) -> bytes:
        return bytes([len(word)]) + word.encode()

    body = bytes([sensor]) + text(name) + bytes([len(components)])
    for kind, group, component, unit in components:
        body += bytes([kind]) + text(group) + text(component) + text(unit)
    return body + bytes([0])


SCHEMES = [
    scheme(7, "bone_acc", [(2, "bone_acc", axis, "g") for axis in "xyz"]),
    scheme(0, "imu", [(6, part, axis, "") for part in ("acc", "gyro", "mag") for axis in "xyz"]),
]
PARSE_INFO = bytes([2, 7, 0]) + b"".join(struct.pack("<H", len(one)) + one for one in SCHEMES)
HEADER = struct.pack("<HQIIQB", 3, 10**6, 27 + len(PARSE_INFO), len(PARSE_INFO), 42, 1) + PARSE_INFO


def bone_packets(samples: FloatArray) -> list[bytes]:
    counts = np.rint(samples.T / STANDARD_GRAVITY * 16384).astype("<i2")
    packets = []
    for first in range(0, len(counts) - PER_PACKET + 1, PER_PACKET):
        payload = counts[first : first + PER_PACKET].tobytes() + struct.pack("<H", PERIOD_US)
        packets.append(struct.pack("<BBQ", 7, len(payload), 10**6 + first * PERIOD_US) + payload)
    return packets


def imu_packets(samples: FloatArray, jitter_us: int) -> list[bytes]:
    generator = np.random.default_rng(0)
    packets = []
    for n, sample in enumerate(samples.T):
        time_us = 10**6 + n * PERIOD_US + int(generator.integers(-jitter_us, jitter_us + 1))
        payload = struct.pack("<9f", *sample, *range(6))
        packets.append(struct.pack("<BBQ", 0, len(payload), time_us) + payload)
    return packets


def ask_oracle(path: Path, sensor: str) -> pd.DataFrame:
    """Read a file with the library of the makers of OpenEarable."""
    with warnings.catch_warnings():
        # it still imports a name that websockets has deprecated, and warns while loading
        warnings.simplefilter("ignore", DeprecationWarning)
        from open_wearables.data import SensorDataset
    frame: pd.DataFrame = getattr(SensorDataset(str(path)), sensor).df
    return frame


def test_bone_conduction_is_preferred_and_agrees_with_the_oracle(
    tmp_path: Path, motion: FloatArray
) -> None:
    path = tmp_path / "session.oe"
    path.write_bytes(HEADER + b"".join(imu_packets(motion, 0)[:20] + bone_packets(motion)))

    reading = inspect(path)

    oracle = ask_oracle(path, "bone_acc")
    values = oracle.to_numpy(dtype=float).T * STANDARD_GRAVITY / 16384
    np.testing.assert_allclose(reading.recording.samples, values)
    # the oracle stamps the first sample of a packet one period late; ours is the packet's time
    assert oracle.index[0] == pytest.approx(1.0 + PERIOD_US * 1e-6)
    assert reading.recording.rate_hz == 100.0
    assert reading.recording.ear == "right"
    assert reading.recording.device == "OpenEarable 2, bone-conduction accelerometer"


def test_the_imu_serves_where_there_is_no_bone_conduction(
    tmp_path: Path, motion: FloatArray
) -> None:
    path = tmp_path / "session.oe"
    path.write_bytes(HEADER + b"".join(imu_packets(motion, 1500)))

    reading = inspect(path)

    oracle = ask_oracle(path, "imu")
    smooth = np.interp(
        np.arange(len(reading.recording)) / 100.0, oracle.index - oracle.index[0], oracle["acc.z"]
    )
    np.testing.assert_allclose(reading.recording.samples[2][5:-5], smooth[5:-5], atol=0.05)
    assert reading.native_rate_hz == pytest.approx(100.0, rel=1e-3)
    assert reading.recording.device == "OpenEarable 2, IMU"


def test_the_old_header_is_read_too(tmp_path: Path, motion: FloatArray) -> None:
    path = tmp_path / "old.oe"
    path.write_bytes(struct.pack("<HQ", 2, 10**6) + b"".join(bone_packets(motion)))

    assert read(path).duration_s == pytest.approx(9.96)


def test_damage_costs_a_packet_and_not_the_recording(tmp_path: Path, motion: FloatArray) -> None:
    packets = bone_packets(motion)
    packets[50] = b"\xff" * 7 + packets[50][20:]
    path = tmp_path / "damaged.oe"
    path.write_bytes(HEADER + b"".join(packets)[:-5])

    reading = inspect(path)

    assert len(reading.gaps) == 1
    assert reading.gaps[0].length_s == pytest.approx(PER_PACKET * PERIOD_US * 1e-6, abs=1e-6)
    assert any("no packets" in note for note in reading.notes)


def test_without_an_accelerometer_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "barometer.oe"
    payload = struct.pack("<2f", 20.0, 1013.0)
    path.write_bytes(struct.pack("<HQ", 2, 0) + (struct.pack("<BBQ", 1, 8, 5) + payload) * 50)

    with pytest.raises(UnreadableError, match="no packet of an accelerometer"):
        read(path)


@given(payload=st.binary(max_size=60), sensor=st.integers(0, 255))
def test_any_payload_decodes_or_does_not(payload: bytes, sensor: int) -> None:
    chunk = decode_open_earable(sensor, 0, payload)

    if chunk is not None:
        assert sensor in (0, 7)
        assert chunk.samples.shape[0] == 3


def test_stamps_rise_where_chunks_meet() -> None:
    payload = bytes(36) + struct.pack("<H", PERIOD_US)
    times_us = np.cumsum([0, 59_800, 60_300, 59_500, 200_000, 60_000])
    chunks = [decode_open_earable(7, int(time_us), payload) for time_us in times_us]

    stamps_s = stamp([chunk for chunk in chunks if chunk is not None])

    assert (np.diff(stamps_s) > 0.009).all()
    np.testing.assert_allclose(stamps_s[::PER_PACKET], times_us * 1e-6)
    assert np.diff(stamps_s).max() == pytest.approx(0.15)
