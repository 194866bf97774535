"""Recognition over real sockets: enrolled by the API, worn by the owner, then by a stranger."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx
import numpy as np
import pytest

from acclock.recordings import write
from acclock.service.client import StreamClient
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray

if TYPE_CHECKING:
    from tests.service.conftest import Server

OWNER, STRANGER = 0, 5
PIECE = 25
GRAVITY = 9.80665

Send = Callable[["Server", str, "Ear"], Awaitable[None]]


def worn_by(person: int, *, session: int, duration_s: float) -> FloatArray:
    scene = Scene(duration_s=duration_s, session=session)
    return simulate(draw_person(person), scene).recording.samples


class Ear:
    """Gives samples without end, of whoever wears the earphone now; gravity stays the same."""

    def __init__(self, *, session: int) -> None:
        self._worn = {
            person: worn_by(person, session=session, duration_s=60.0)
            for person in (OWNER, STRANGER)
        }
        self.gravity = self._worn[OWNER].mean(axis=1)
        apart = self.gravity - self._worn[STRANGER].mean(axis=1)
        self._worn[STRANGER] = self._worn[STRANGER] + apart[:, np.newaxis]
        self.wearer, self._at = OWNER, 0

    def take(self, number: int) -> FloatArray:
        samples = self._worn[self.wearer]
        self._at += number
        return np.roll(samples, number - self._at, axis=1)[:, :number]


def enroll(server: "Server", name: str, recording: Path) -> None:
    with server.client() as operator:
        made = operator.post(
            f"/v1/people?name={name}&consent=form 3&filename={recording.name}",
            content=recording.read_bytes(),
        )
        assert made.status_code == 201, made.text


def make_token(server: "Server", role: str, person: str, *, may_grant: bool = False) -> str:
    wanted = {"role": role, "person": person, "duration_s": 600, "may_grant": may_grant}
    with server.client() as operator:
        return str(operator.post("/v1/tokens", json=wanted).json()["secret"])


class Session:
    """One session as the world sees it: open it, and wait until it stands in a certain way."""

    def __init__(self, server: "Server", person: str) -> None:
        self._person = person
        self._party = server.client(make_token(server, "relying-party", person, may_grant=True))
        self._viewer = server.client()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._party.close()
        self._viewer.close()

    async def look(self) -> dict[str, Any]:
        listed = await asyncio.to_thread(self._viewer.get, "/v1/sessions")
        found = [one for one in listed.json()["sessions"] if one["person"] == self._person]
        return found[0] if found else {}

    async def until(self, *, within_s: float, **stands: str) -> float:
        begun_s = time.monotonic()
        while stands.items() - (now := await self.look()).items():
            assert time.monotonic() - begun_s < within_s, now
            await asyncio.sleep(0.25)
        return time.monotonic() - begun_s

    async def grant(self) -> None:
        wanted = {"duration_s": 600}
        path = f"/v1/people/{self._person}/grant"
        granted = await asyncio.to_thread(self._party.post, path, json=wanted)
        assert granted.status_code == 202, granted.text


async def judge(session: Session, ear: Ear) -> None:
    """See the owner let in and confirmed, and whoever takes the earphone over locked out."""
    await session.until(state="locked", within_s=30.0)
    await session.grant()
    await session.until(state="unlocked", confidence="high", within_s=60.0)

    ear.wearer = STRANGER

    await session.until(state="locked", reason="stranger", within_s=30.0)


async def stream(server: "Server", person: str, ear: Ear) -> None:
    """Stream as an earphone does, until cancelled."""
    token, begun_s = make_token(server, "device", person), time.monotonic()
    async with StreamClient(server.ws, token, person=person, device="left bud") as client:
        for number in count():
            stamp = {"time_us": number * PIECE * 10_000, "period_us": 10_000}
            await client.send(ear.take(PIECE), **stamp)
            await asyncio.sleep(begun_s + (number + 1) * 0.25 - time.monotonic())


async def push(server: "Server", person: str, ear: Ear) -> None:
    """Post as Sensor Logger does, until cancelled."""
    headers = {"Authorization": f"Bearer {make_token(server, 'device', person)}"}
    begun_s = time.monotonic()
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, timeout=60, trust_env=False
    ) as phone:
        for number in count():
            message = {"messageId": number, "sessionId": "a", "deviceId": "b"}
            payload = [
                read(50 * number + place, sample, ear.gravity)
                for place, sample in enumerate(ear.take(50).T)
            ]
            answer = await phone.post("/v1/push", json=message | {"payload": payload})
            assert answer.status_code == 200, answer.text
            await asyncio.sleep(begun_s + (number + 1) * 0.5 - time.monotonic())


def read(number: int, sample: FloatArray, gravity: FloatArray) -> dict[str, object]:
    """Give a reading of headphones in g, with gravity beside it, as the app writes it."""
    apart = zip("XYZ", ((sample - gravity) / GRAVITY).tolist(), strict=True)
    aside = zip("XYZ", (gravity / np.linalg.norm(gravity)).tolist(), strict=True)
    values = {f"acceleration{axis}": value for axis, value in apart}
    values |= {f"gravity{axis}": value for axis, value in aside}
    time_ns = str(1_767_607_200_000_000_000 + number * 10_000_000)
    return {"name": "headphone", "time": time_ns, "values": values}


async def live(server: "Server", send: Send, person: str, ear: Ear) -> None:
    """Let somebody send for as long as they are judged."""
    with Session(server, person) as session:
        sending = asyncio.ensure_future(send(server, person, ear))
        judging = asyncio.ensure_future(judge(session, ear))
        done, _ = await asyncio.wait({sending, judging}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


@pytest.mark.slow
def test_the_owner_is_let_in_and_whoever_takes_over_is_locked_out(
    server_at: Callable[..., "Server"], tmp_path: Path
) -> None:
    server, path = server_at(tmp_path / "home", fresh=True).start(), tmp_path / "anna.npz"
    write(simulate(draw_person(OWNER), Scene(duration_s=130.0)).recording, path)
    enroll(server, "anna", path)
    enroll(server, "anna's phone", path)  # grants are for a person, not for a device
    ears = Ear(session=1), Ear(session=1)

    async def both() -> None:
        await asyncio.gather(
            live(server, stream, "anna", ears[0]), live(server, push, "anna's phone", ears[1])
        )

    asyncio.run(both())
