"""Many wearers on one server: ``python -m benchmarks.service curve overload hold``.

``hold``      so many streams (``--streams``) for ``--minutes``: the promise of docs/service.md
``curve``     more and more streams until a decision in a hundred takes over 250 ms, or one is
              missing, or a stream is sent away
``overload``  three times as many as the curve carried, then as many again as it carries
``soak``      ``--streams`` for ``--minutes``, some of them coming and going: is anything growing?

An open-loop client on loopback (``benchmarks.wearers``). Two thirds of the streams are worn by
their user, one third by a stranger: under any load the users shall be let in and the strangers not.
Times are printed and never fail; a stale accept does. Results are JSON, and a table for the docs.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.served import Served, enroll_people, serving, stolen_s
from benchmarks.wearers import Crowd, record

HEARTS = 4
CURVE = (10, 30, 100, 200, 300, 400, 500, 600, 800, 1000, 1300, 1700)
GOOD_MS = 250.0
TIMES = 3
"""How many times its capacity the service is overloaded with."""
CALM_S = 2.0
"""A service is back to normal when for so long nothing was late, missing or shed."""
PEOPLE = HEARTS * 1500
"""Everybody streams once: more than the most that overload brings."""

Row = dict[str, Any]


async def measure(served: Served, crowd: Crowd, seconds: float) -> Row:
    """Let a crowd that has come wear on for a while, and say how that went."""
    tally = crowd.tally
    stale, shed, refused = tally.stale_accepts, tally.shed, tally.refused
    server_s, client_s, begin_s = served.cpu_s(), time.process_time(), time.monotonic()
    stolen_before_s = stolen_s()
    await crowd.rest(seconds)
    end_s = time.monotonic()
    count, passed_s = sum(not one.ended for one in crowd.all), end_s - begin_s
    server_ms = 1e3 * (served.cpu_s() - server_s) / passed_s / max(1, count)
    client = (time.process_time() - client_s) / passed_s
    stolen = (stolen_s() - stolen_before_s) / passed_s
    await crowd.rest(1.5)  # what was due in the end may still come
    waits = tally.waits_ms(begin_s, end_s)
    p50, p99 = np.percentile(waits, [50, 99]).round(1).tolist() if waits.size else (None, None)
    return {
        "streams": count,  # that are there in the end
        "seconds": round(passed_s, 1),
        "decisions": int(waits.size),
        "p50_ms": p50,
        "p99_ms": p99,
        "max_ms": round(float(waits.max(initial=0.0)), 1),
        "missing": tally.missing(begin_s, end_s),
        "shed": tally.shed - shed,
        "refused": tally.refused - refused,
        "stale_accepts": tally.stale_accepts - stale,
        "late_while_the_client_slept": tally.asleep,
        "server_ms_per_stream_second": round(server_ms, 2),
        "client_share_of_a_core": round(client, 3),
        "stolen_share_of_a_core": round(stolen, 3),
        "server_megabytes": round(served.megabytes(), 1),
        "first_decision_s": round(float(np.median(tally.first_s or [np.nan])), 2),
        **judge(crowd),
    }


def judge(crowd: Crowd) -> Row:
    """Say whom the service let in."""
    return {
        "users_unlocked": sum(one.state == "unlocked" for one in crowd.owners),
        "users": len(crowd.owners),
        "users_locked_again": sum(max(0, one.closed) for one in crowd.owners),
        "strangers_ever_unlocked": sum(one.opened > 0 for one in crowd.strangers),
        "strangers": len(crowd.strangers),
    }


def is_good(row: Row) -> bool:
    """Whether all was answered in time."""
    in_time = row["p99_ms"] is not None and row["p99_ms"] < GOOD_MS
    return in_time and not (row["missing"] or row["shed"] or row["refused"])


class Bench:
    """The modes, over one service and one client."""

    def __init__(self, served: Served, asked: argparse.Namespace) -> None:
        self._served, self._asked = served, asked
        longest_s = max(60.0 * asked.minutes, 600.0) + 60.0
        self._hearts = {person: record(person, longest_s) for person in range(HEARTS)}
        self._capacity = asked.capacity
        self._chance = np.random.default_rng(1)
        self.results: Row = {"start_to_ready_s": round(served.ready_s, 1)}
        self.stale = 0

    def _gather(self) -> Crowd:
        return Crowd(self._served.port, self._served.token, self._hearts, people=PEOPLE)

    def _note(self, mode: str, row: Row) -> Row:
        self.results.setdefault(mode, []).append(row)
        self.stale += row.get("stale_accepts", 0)
        print(mode, json.dumps(row), flush=True)
        return row

    async def hold(self) -> None:
        crowd = self._gather()
        await crowd.grow(self._asked.streams)
        await crowd.rest(5.0)  # until the last has its first window
        self._note("hold", await measure(self._served, crowd, 60.0 * self._asked.minutes))
        await crowd.shrink(crowd.all)

    async def curve(self) -> None:
        crowd, idle_mb = self._gather(), self._served.megabytes()
        for count in CURVE:
            await crowd.grow(count - len(crowd.all))
            await crowd.rest(5.0)
            row = await measure(self._served, crowd, self._asked.seconds)
            row["megabytes_per_stream"] = round((row["server_megabytes"] - idle_mb) / count, 2)
            self._note("curve", row)
            if not is_good(row) or row["streams"] < count:  # some were sent away as others came
                break
            self._capacity = count
        await crowd.shrink(crowd.all)
        await crowd.rest(6.0)

    async def overload(self) -> None:
        crowd, capacity = self._gather(), self._capacity
        await crowd.grow(capacity)
        await crowd.rest(5.0)
        before = await measure(self._served, crowd, 10.0)
        early = crowd.all
        await crowd.grow((TIMES - 1) * capacity)
        during = await measure(self._served, crowd, 20.0)
        end_s = time.monotonic()
        await crowd.shrink([one for one in crowd.all if one not in early or one.ended])
        await crowd.rest(20.0)
        row = {
            "capacity": capacity,
            "offered": TIMES * capacity,
            "before_p99_ms": before["p99_ms"],
            "during": during,
            "stale_accepts": crowd.tally.stale_accepts,
            "shed": crowd.tally.shed,
            "refused": crowd.tally.refused,
            "kept": len(crowd.all),
            "normal_again_s": find_calm(crowd, end_s),
            **judge(crowd),
        }
        self._note("overload", row)
        await crowd.shrink(crowd.all)
        await crowd.rest(6.0)

    async def soak(self) -> None:
        crowd = self._gather()
        await crowd.grow(self._asked.streams)
        begin_s = time.monotonic()
        for minute in range(round(self._asked.minutes) + 1):
            await crowd.rest(max(0.0, begin_s + 60.0 * minute - time.monotonic()))
            waits = crowd.tally.waits_ms(begin_s)
            self._note(
                "soak",
                {
                    "minute": minute,
                    "streams": len(crowd.all),
                    "server_megabytes": round(self._served.megabytes(), 1),
                    "files": self._served.files(),
                    "threads": self._served.threads(),
                    "tasks": self._served.metric("acclock_tasks"),
                    "decisions": int(waits.size),
                    "p99_ms": round(float(np.percentile(waits, 99)), 1) if waits.size else None,
                    "stale_accepts": crowd.tally.stale_accepts,
                    "late_while_the_client_slept": crowd.tally.asleep,
                    "shed": crowd.tally.shed,
                    **judge(crowd),
                },
            )
            crowd.tally.waits.clear()
            crowd.tally.sent.clear()
            some = self._chance.permutation(len(crowd.all))[: max(1, len(crowd.all) // 10)]
            leaving = [one for one in crowd.all if one.ended] or [crowd.all[n] for n in some]
            await crowd.shrink(leaving)
            await crowd.grow(len(leaving))


def find_calm(crowd: Crowd, begin_s: float) -> float | None:
    """Give after how long all was answered in time, until the end; nothing when it never was."""
    settled_s = time.monotonic() - 1.5  # what was due later may still come
    late = [due for due, took in crowd.tally.waits if took >= GOOD_MS / 1e3 and due >= begin_s]
    missing = [due for one in crowd.all for due in one.unanswered(begin_s) if due < settled_s]
    last_s = max([*late, *missing], default=begin_s) - begin_s
    return round(last_s, 1) if last_s < 20.0 - CALM_S else None


def show(rows: list[Row]) -> str:
    """Give the curve as a table for the docs."""
    names = ("streams", "decisions", "p50_ms", "p99_ms", "max_ms", "missing", "shed",
             "server_ms_per_stream_second", "client_share_of_a_core",
             "stolen_share_of_a_core")  # fmt: skip
    lines = [
        f"| {' | '.join(name.replace('_', ' ') for name in names)} |",
        "|---" * len(names) + "|",
    ]
    lines += [f"| {' | '.join(str(row[name]) for name in names)} |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modes", nargs="*", default=["hold"])
    parser.add_argument("--streams", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each step of the curve")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--capacity", type=int, default=300, help="when no curve has shown it")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    if stray := set(asked.modes) - {"hold", "curve", "overload", "soak"}:
        parser.error(f"there is no mode {', '.join(sorted(stray))}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "vault"
        token = enroll_people(folder, PEOPLE, hearts=HEARTS)
        with serving(folder, token, asked.workers) as served:
            bench = Bench(served, asked)
            print(f"start to ready: {served.ready_s:.1f} s", flush=True)
            for mode in asked.modes:
                asyncio.run(getattr(bench, mode)())
                if asked.out:
                    asked.out.write_text(json.dumps(bench.results, indent=1))
    print(show([*bench.results.get("curve", []), *bench.results.get("hold", [])]))
    sys.exit("a stale accept was seen" if bench.stale else 0)


if __name__ == "__main__":
    main()
