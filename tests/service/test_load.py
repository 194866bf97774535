"""Two workers share a port and its streams: all are answered, and told apart."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from acclock.service.auth.starting import open_tokens
from acclock.vault.keys import KeyFile
from acclock.vault.opening import open_vault
from benchmarks.served import Served, serving
from benchmarks.wearers import Crowd, record

if TYPE_CHECKING:
    from acclock.matching.template import Template

STREAMS, SECONDS = 9, 11.0
PEOPLE = 10


def test_streams_of_two_workers_are_all_answered_and_told_apart(
    tmp_path: Path, templates: "dict[str, Template]"
) -> None:
    folder = tmp_path / "vault"
    with open_vault(folder, key_store=KeyFile(folder / "vault.key")) as vault:
        worn = list(templates.values())
        vault.add_all({f"user {place}": worn[place % len(worn)] for place in range(PEOPLE)})
    with open_tokens(open_vault(folder)) as tokens:
        about = {"lasting": "1h", "person": None, "may_grant": False, "note": "test"}
        token = tokens.create("operator", **about)[0]  # type: ignore[arg-type]

    with serving(folder, token, 2) as served:
        crowd, seen = asyncio.run(_wear(served))

    tally = crowd.tally
    assert tally.missing(0.0) == 0
    assert tally.shed == tally.refused == tally.stale_accepts == 0
    assert len(tally.waits) >= STREAMS * 12
    assert all(one.accepted > one.rejected for one in crowd.owners)
    assert all(one.rejected > one.accepted for one in crowd.strangers)
    assert seen == STREAMS  # any worker knows of the sessions of both


async def _wear(served: Served) -> tuple[Crowd, int]:
    hearts = {person: record(person, 60.0) for person in (0, 1)}
    crowd = Crowd(served.port, served.token, hearts, people=PEOPLE)
    await crowd.grow(STREAMS)
    await crowd.rest(SECONDS)
    headers = {"Authorization": f"Bearer {served.token}"}
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=30.0) as client:
        asked = await client.get(f"http://127.0.0.1:{served.port}/v1/sessions")
    for wearer in crowd.all:
        wearer.stop()
    await crowd.rest(1.0)
    for wearer in crowd.all:
        wearer.close()
    await crowd.rest(0.2)
    return crowd, len(asked.json()["sessions"])
