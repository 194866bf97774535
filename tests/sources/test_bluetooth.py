"""A virtual OpenEarable streams, loses, disconnects and garbles, over a real GATT link."""

import asyncio
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acclock.live.chunks import Break, Chunk
from acclock.sources.bluetooth import BluetoothSource, Earable, RadioError
from acclock.sources.esense import ESense
from acclock.sources.open_earable import OpenEarable, Sensor
from acclock.sources.relay import Backoff
from acclock.sources.source import Faults
from acclock.values import STANDARD_GRAVITY

if TYPE_CHECKING:
    from tests.sources.conftest import Listen

SOON = Backoff(first_s=0.01, longest_s=0.05)
"""Do not wait in a test."""


@dataclass(frozen=True)
class Played:
    heard: list[Chunk | Break]
    faults: Faults
    commands: list[bytes]

    @property
    def reasons(self) -> list[str]:
        return [piece.reason for piece in self.heard if isinstance(piece, Break)]

    @property
    def chunks(self) -> list[Chunk]:
        return [piece for piece in self.heard if isinstance(piece, Chunk)]


Step = bytes | Literal["hang up"]
Play = Callable[..., Played]


@pytest.fixture
def play(virtual: ModuleType, listen: "Listen") -> Play:
    """Let the virtual earable send packets, and hear what the source makes of them."""

    async def stream(
        steps: list[Step],
        until: Callable[[list[Chunk | Break]], bool],
        largest_mtu: int,
        sensor: Sensor,
    ) -> Played:
        earable, central = await virtual.make_pair(largest_mtu=largest_mtu)
        source = BluetoothSource(
            lambda: OpenEarable(sensor), lambda: virtual.BumbleRadio(central), backoff=SOON
        )

        async def send() -> None:
            for step in steps:
                await earable.configured.wait()
                await (earable.hang_up() if step == "hang up" else earable.notify(step))

        sending = asyncio.create_task(send())
        heard = await listen(source, until=until)
        await sending
        return Played(heard, +source.faults, earable.commands)

    def run(
        steps: list[Step],
        *,
        until: Callable[[list[Chunk | Break]], bool],
        largest_mtu: int = 517,
        sensor: Sensor = "bone",
    ) -> Played:
        return asyncio.run(stream(steps, until, largest_mtu, sensor))

    return run


def packets(virtual: ModuleType, numbers: Iterable[int]) -> list[Step]:
    """Give packets of a stream that lies flat: each has 6 samples, 60 ms."""
    return [
        virtual.bone_packet(
            5_000_000 + 60_000 * number, [(6 * number + place, 0, 16384) for place in range(6)]
        )
        for number in numbers
    ]


def test_it_is_told_to_send_and_its_samples_arrive_in_order_and_in_units(
    virtual: ModuleType, play: Play
) -> None:
    played = play(packets(virtual, range(21)), until=lambda heard: len(heard) == 20)

    stamps_s = np.concatenate([chunk.stamps_s for chunk in played.chunks])
    samples = np.concatenate([chunk.samples for chunk in played.chunks], axis=1)
    assert played.commands == [bytes.fromhex("070301")]
    np.testing.assert_allclose(stamps_s, 5.0 + np.arange(120) / 100.0, atol=1e-6)
    np.testing.assert_allclose(samples[0] * 16384 / STANDARD_GRAVITY, np.arange(120), atol=1e-9)
    np.testing.assert_allclose(samples[2], STANDARD_GRAVITY)
    assert played.faults.total() == 0


def test_the_imu_is_in_meters_and_seconds_and_may_jitter(virtual: ModuleType, play: Play) -> None:
    times_us = [5_000_000 + 10_000 * n + (n % 3) * 1500 for n in range(12)]
    steps: list[Step] = [
        struct.pack("<BBQ9f", 0, 36, time_us, 0.5, 0.0, 9.81, *[7.0] * 6) for time_us in times_us
    ]

    played = play(steps, until=lambda heard: len(heard) == 11, sensor="imu")

    stamps_s = np.concatenate([chunk.stamps_s for chunk in played.chunks])
    assert played.commands == [bytes.fromhex("000201")]
    np.testing.assert_allclose(stamps_s, np.array(times_us[:-1]) * 1e-6)
    np.testing.assert_allclose(played.chunks[0].samples[:, 0], [0.5, 0.0, 9.81], rtol=1e-6)


def test_lost_packets_are_counted_from_the_stamps(virtual: ModuleType, play: Play) -> None:
    steps = packets(virtual, [0, 1, 2, 5, 6, 7, 8])

    played = play(steps, until=lambda heard: len(heard) == 6)

    assert [chunk.lost for chunk in played.chunks] == [0, 0, 0, 12, 0, 0]
    assert played.faults == {"lost packet": 2}


def test_a_lost_link_is_a_break_and_is_made_again(virtual: ModuleType, play: Play) -> None:
    steps = [*packets(virtual, range(4)), "hang up", *packets(virtual, range(100, 104))]

    played = play(steps, until=lambda heard: len(heard) == 7)

    order = ["break" if isinstance(piece, Break) else "chunk" for piece in played.heard]
    assert order == ["chunk"] * 3 + ["break"] + ["chunk"] * 3
    assert played.reasons == ["disconnect"]
    assert played.commands == [bytes.fromhex("070301")] * 2
    assert played.chunks[-1].lost == 0
    assert played.faults["disconnect"] == 1


def test_an_mtu_below_51_truncates_every_packet_and_says_so(
    virtual: ModuleType, play: Play
) -> None:
    good = virtual.bone_packet(5_000_000, [(0, 0, 16384)])  # 18 bytes: fits into any MTU
    later = virtual.bone_packet(5_060_000, [(0, 0, 16384)])
    steps = [good, later, *packets(virtual, range(10))]

    played = play(steps, until=lambda heard: len(heard) == 2, largest_mtu=48)

    assert played.reasons == ["garbage"]
    assert len(played.chunks) == 1
    assert played.faults["truncated packet"] >= 1


def test_half_packets_strange_ones_and_repeats_are_counted_and_survived(
    virtual: ModuleType, play: Play
) -> None:
    good = packets(virtual, range(10))
    whole = virtual.bone_packet(5_180_000, [(0, 0, 16384)] * 6)
    steps: list[Step] = [
        *good[:3],
        good[2],
        whole[:25],
        b"\x07",
        whole + b"!",
        struct.pack("<BBQ", 4, 2, 7) + b"ok",
        *good[3:6],
    ]

    played = play(steps, until=lambda heard: len(heard) == 5)

    assert played.faults == {
        "repeated packet": 1,
        "truncated packet": 2,
        "damaged packet": 1,
    }
    assert played.reasons == ["garbage"]
    assert len(played.chunks) == 4


@settings(max_examples=100)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.binary(min_size=10, max_size=48).map(lambda data: bytes([7, len(data) - 8]) + data),
        ),
        max_size=20,
    )
)
def test_no_bytes_make_an_earable_raise(notifications: list[bytes]) -> None:
    faults: Faults = Faults()
    earables: list[Earable] = [OpenEarable("bone"), OpenEarable("imu"), ESense()]

    heard = [
        piece
        for data in notifications
        for earable in earables
        for piece in earable.read(data, 1.0, faults)
    ]

    assert all(isinstance(piece, Chunk | Break) for piece in heard)


def esense_packet(index: int, z: int = 8192) -> bytes:
    body = bytes([12]) + struct.pack(">6h", 0, 0, 0, 0, 128, z)
    return bytes([0x55, index % 256, sum(body) % 256]) + body


class FakeRadio:
    """A link that delivers some notifications when it is told to start, and then is lost."""

    def __init__(self, notifications: list[bytes], written: list[bytes]) -> None:
        self._notifications, self._written = notifications, written

    async def connect(self) -> None: ...

    async def subscribe(self, characteristic: str, heard: Callable[[bytes], None]) -> None:
        self._heard = {characteristic: heard}

    async def write(self, characteristic: str, data: bytes) -> None:
        self._written.append(data)
        assert characteristic not in self._heard
        for notification in self._notifications:
            for heard in self._heard.values():
                heard(notification)

    async def disconnected(self) -> None: ...

    async def close(self) -> None: ...


def test_esense_counts_its_time_and_its_losses_from_the_index(listen: "Listen") -> None:
    written: list[bytes] = []
    indices = [*range(240, 280), *range(290, 300)]
    sent = [esense_packet(index) for index in indices]
    sent.insert(45, sent[44])
    source = BluetoothSource(ESense, lambda: FakeRadio(sent, written), backoff=SOON)

    heard = asyncio.run(listen(source, until=lambda heard: isinstance(heard[-1], Break)))

    found = [piece for piece in heard if isinstance(piece, Chunk)]
    stamps_s = np.concatenate([chunk.stamps_s for chunk in found])
    assert written[0].hex() == "5367020164"
    np.testing.assert_allclose(np.diff(stamps_s) * 100.0, np.diff(indices))
    assert [chunk.lost for chunk in found if chunk.lost] == [10]
    np.testing.assert_allclose(found[0].samples[2], STANDARD_GRAVITY)
    assert source.faults["repeated packet"] == 1
    assert source.faults["lost packet"] == 10


def test_a_radio_that_never_connects_is_tried_again_and_again(listen: "Listen") -> None:
    class DeadRadio(FakeRadio):
        async def connect(self) -> None:
            raise RadioError("there is no adapter")

    source = BluetoothSource(ESense, lambda: DeadRadio([], []), backoff=SOON)

    async def wait() -> None:
        with pytest.raises(TimeoutError):
            await listen(source, until=lambda _: True, patience_s=0.5)

    asyncio.run(wait())
    assert source.faults["refused connection"] >= 3
