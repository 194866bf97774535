"""One service for people of different models: each is verified and watched by their own."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acclock.models.files import find_model, fingerprint_of
from acclock.recordings import write
from acclock.service.client import StreamClient, StreamRefusedError
from acclock.service.config import ServiceConfig
from acclock.service.service import open_service
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import Recording

if TYPE_CHECKING:
    from tests.service.conftest import Running

Play = Callable[[Awaitable[Any]], Any]
SLOW_HZ = 25.0


def wear(person: int, *, rate_hz: float, session: int = 0, duration_s: float = 60.0) -> Recording:
    scene = Scene(duration_s=duration_s, session=session, rate_hz=rate_hz)
    return simulate(draw_person(person), scene).recording


def as_bytes(recording: Recording, folder: Path) -> bytes:
    write(recording, folder / "worn.npz")
    return (folder / "worn.npz").read_bytes()


@pytest.fixture(scope="module")
def serving(running: "Running", tmp_path_factory: pytest.TempPathFactory) -> "Running":
    """A service that knows anna by a recording of 100 Hz and has enrolled cara by one of 25 Hz."""
    body = as_bytes(
        wear(2, rate_hz=SLOW_HZ, duration_s=150.0), tmp_path_factory.mktemp("recordings")
    )
    with running.client(running.token("operator")) as operator:
        made = operator.post("/v1/people?name=cara&consent=form 3&filename=worn.npz", content=body)
    assert (made.status_code, made.json()["model"]) == (201, "default-25"), made.text
    return running


def test_uploads_are_verified_by_the_model_of_the_template(
    serving: "Running", tmp_path: Path
) -> None:
    own = {
        "anna": wear(0, rate_hz=100.0, session=1),
        "cara": wear(2, rate_hz=SLOW_HZ, session=1),
    }
    with serving.client(serving.token("operator")) as operator:
        answers = {
            name: operator.post(
                f"/v1/people/{name}/verify?filename=worn.npz",
                content=as_bytes(worn, tmp_path),
            )
            for name, worn in own.items()
        }
        listed = operator.get("/v1/people").json()["people"]

    assert {name: one.json()["verified"] for name, one in answers.items()} == dict.fromkeys(
        own, True
    )
    models = {one["name"]: (one["model"], one["current"]) for one in listed}
    assert models["anna"] == ("default", True)
    assert models["cara"] == ("default-25", True)


def test_streams_of_different_models_are_unlocked_side_by_side(
    serving: "Running", play: Play
) -> None:
    ears = {"anna": wear(0, rate_hz=100.0, session=1), "cara": wear(2, rate_hz=SLOW_HZ, session=1)}

    async def stream(name: str) -> dict[str, Any]:
        token, worn, begun_s = serving.token("device", name), ears[name], time.monotonic()
        hz, step = worn.rate_hz, round(worn.rate_hz * 0.4)
        async with StreamClient(serving.ws, token, person=name, rate_hz=hz) as client:
            for start in range(0, len(worn) - step, step):
                at_us, period_us = round(start / hz * 1e6), round(1e6 / hz)
                part = worn.samples[:, start : start + step]
                await client.send(part, time_us=at_us, period_us=period_us)
                await asyncio.sleep(begun_s + (start + step) / hz - time.monotonic())
                if start == 0:
                    await asyncio.to_thread(grant, serving, name)
                if await asyncio.to_thread(stands, serving, name) == ("unlocked", "high"):
                    return client.ready
        raise AssertionError(f"{name} was not confirmed")

    async def both() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*map(stream, ears)))

    assert [ready["model"] for ready in play(both())] == ["default", "default-25"]


def grant(serving: "Running", name: str) -> None:
    with serving.client(serving.token("relying-party", name, may_grant=True)) as party:
        granted = party.post(f"/v1/people/{name}/grant", json={"duration_s": 600})
        assert granted.status_code == 202, granted.text


def stands(serving: "Running", name: str) -> tuple[str, str] | None:
    with serving.client(serving.token("viewer")) as viewer:
        listed = viewer.get("/v1/sessions").json()["sessions"]
    found = [(one["state"], one["confidence"]) for one in listed if one["person"] == name]
    return found[0] if found else None


def test_an_enrollment_by_stream_says_which_model_its_rate_has_chosen(
    serving: "Running", play: Play
) -> None:
    async def greet() -> dict[str, Any]:
        token = serving.token("operator")
        enrolling: dict[str, Any] = {"purpose": "enroll", "consent": "form 3", "rate_hz": 50.0}
        async with StreamClient(serving.ws, token, person="dora", **enrolling) as client:
            return client.ready

    ready = play(greet())

    assert ready["model"] == "default-50"
    assert ready["sentence"] == "model default-50: the samples were taken at 50 Hz"


def test_who_was_enrolled_by_a_model_that_is_not_here_is_told_what_to_do(
    serving: "Running", play: Play
) -> None:
    vault = serving.service.recognizer.vault
    vault.add("gone", replace(vault.template("anna"), model="0" * 64))

    async def greet() -> None:
        async with StreamClient(serving.ws, serving.token("operator"), person="gone"):
            pass

    with pytest.raises(StreamRefusedError, match="acclock migrate"):
        play(greet())
    with serving.client(serving.token("operator")) as operator:
        listed = operator.get("/v1/people/gone").json()
    assert (listed["model"], listed["current"]) == ("0" * 12, False)


def test_models_that_only_recognize_do_not_enroll(tmp_path: Path) -> None:
    config = ServiceConfig(
        folder=tmp_path / "vault", models=("default",), known_models=("default-25",)
    )

    models = open_service(config).recognizer.models

    assert models.choose(100.0).model.name == "default"
    assert models.made(fingerprint_of(find_model("default-25"))).name == "default-25"
