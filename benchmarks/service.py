"""Many wearers on one server: ``python -m benchmarks.service [--streams 20] [--minutes 0.5]``.

An open-loop client on loopback: every stream sends a frame of half a second each half second,
whether or not the service keeps up, and the time of a decision counts from the moment at which
the last sample of its frame was due. Frames of 100 Hz are held back by up to 0.27 s more inside
the service, by the look-ahead of the even clock; that is part of the signal, not of the time.
Absolute times are printed and never fail; a stale accept does.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
from websockets.exceptions import ConnectionClosed

from acclock.matching.enrollment import enroll
from acclock.simulation import Scene, draw_person, simulate
from acclock.values import FloatArray
from acclock.world.desk import open_desk
from acclock.world.service.client import StreamClient, StreamRefusedError
from acclock.world.service.starting import open_tokens
from acclock.world.vault.keys import KeyFile
from acclock.world.vault.opening import open_vault
from acclock.world.wearing import observe

STEP_S, RATE_HZ = 0.5, 100
FIRST = round(4.5 * RATE_HZ)
"""Samples until the first window is whole, the look-ahead of the even clock included."""
STALE_S = 1.3
"""No accept may come later than this after its samples were sent: a second, and the way."""
SERVE = (
    "from acclock.world.service.config import ServiceConfig\n"
    "from acclock.world.service.serving import listen, serve\n"
    "from pathlib import Path; import sys\n"
    "config = ServiceConfig(folder=Path(sys.argv[1]), port=0, workers=int(sys.argv[2]),\n"
    "    most_streams=100_000, streams_per_minute=100_000)\n"
    "sockets = listen(config); print(sockets[0].getsockname()[1], flush=True)\n"
    "serve(config, sockets)\n"
)


@dataclass
class Tally:
    """What the client saw."""

    waits_s: list[float] = field(default_factory=list)
    sent: int = 0
    """Frames that complete a window."""
    stale_accepts: int = 0
    shed: int = 0
    refused: int = 0
    first_s: list[float] = field(default_factory=list)


def prepare(folder: Path) -> str:
    """Enroll somebody and give an operator's token."""
    with open_vault(folder, key_store=KeyFile(folder / "vault.key")) as vault:
        desk = open_desk(vault)
        recording = simulate(draw_person(0), Scene(duration_s=130.0)).recording
        windows = observe(recording, desk.embedder).good
        vault.add("anna", enroll(windows, cohort=desk.cohort, now=datetime.now(UTC)))
    about = {"lasting": "1d", "person": None, "may_grant": False, "note": "benchmark"}
    with open_tokens(open_vault(folder)) as tokens:
        return tokens.create("operator", **about)[0]  # type: ignore[arg-type]


async def wear(url: str, token: str, samples: FloatArray, end_s: float, tally: Tally) -> None:
    """Stream in real time until the end, and note how long each decision took."""
    hop = round(STEP_S * RATE_HZ)
    due: dict[int, tuple[float, float]] = {}
    try:
        async with StreamClient(url, token, person="anna", device="benchmark") as stream:
            begun_s = time.monotonic()
            hearing = asyncio.create_task(hear(stream, due, tally, begun_s))
            for start in range(0, samples.shape[1] - hop, hop):
                due_s = begun_s + (start + hop) / RATE_HZ
                if due_s > end_s or hearing.done():
                    break
                await asyncio.sleep(max(0.0, due_s - time.monotonic()))
                part = samples[:, start : start + hop]
                number = await stream.send(part, time_us=start * 10_000, period_us=10_000)
                due[number] = due_s, time.monotonic()
                tally.sent += start + hop >= FIRST
            await asyncio.sleep(1.5)
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
    except (StreamRefusedError, OSError):
        tally.refused += 1
    except ConnectionClosed:  # it was shed, and noted that
        pass


async def hear(
    stream: StreamClient, due: dict[int, tuple[float, float]], tally: Tally, begun_s: float
) -> None:
    first = True
    async for message in stream.hear():
        now_s = time.monotonic()
        if message["type"] == "shed":
            tally.shed += 1
        if message["type"] != "decision" or message["sequence"] not in due:
            continue
        if first:
            tally.first_s.append(now_s - begun_s)
            first = False
        due_s, sent_s = due.pop(message["sequence"])
        tally.waits_s.append(now_s - due_s)
        late = now_s - sent_s > STALE_S
        tally.stale_accepts += late and message["decision"] == "accept"


async def load(url: str, token: str, count: int, duration_s: float) -> Tally:
    """Let so many streams run for a while, their beginnings spread over a few seconds."""
    tally = Tally()
    recording = simulate(draw_person(0), Scene(duration_s=duration_s + 10, session=1)).recording
    end_s = time.monotonic() + duration_s
    tasks = []
    for _ in range(count):
        tasks.append(asyncio.create_task(wear(url, token, recording.samples, end_s, tally)))
        await asyncio.sleep(min(0.02, 5.0 / count))
    await asyncio.gather(*tasks)
    return tally


def show(count: int, tally: Tally) -> None:
    waits = np.array(tally.waits_s or [np.nan]) * 1e3
    p50, p99 = np.percentile(waits, [50, 99])
    print(
        f"{count:>7} {len(tally.waits_s):>9} {p50:>8.0f} {p99:>8.0f} {waits.max():>8.0f}"
        f" {tally.shed:>6} {tally.refused:>8} {tally.stale_accepts:>14}",
        flush=True,
    )


def read_cpu(pids: list[int]) -> float:
    """Give the seconds of CPU that processes have used so far."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = [
        Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split() for pid in pids
    ]
    return sum(int(one[11]) + int(one[12]) for one in fields) / ticks


def family(pid: int) -> list[int]:
    """Give a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [pid, *map(int, children)]


def read_memory(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--minutes", type=float, default=0.4)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "vault"
        token = prepare(folder)
        begun_s = time.monotonic()
        command = [sys.executable, "-c", SERVE, str(folder), str(asked.workers)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server:  # noqa: S603
            assert server.stdout is not None
            port = int(server.stdout.readline())
            ready = f"http://127.0.0.1:{port}/v1/ready"
            while httpx.get(ready, timeout=60, trust_env=False).status_code != 200:
                time.sleep(0.05)
            print(f"start to ready: {time.monotonic() - begun_s:.1f} s")
            print("streams decisions   p50 ms   p99 ms   max ms   shed  refused  stale accepts")
            stale = measure(asked.streams, asked.minutes * 60, port, token, server.pid)
            server.terminate()
    sys.exit("a stale accept was seen" if stale else 0)


def measure(counts: list[int], duration_s: float, port: int, token: str, pid: int) -> int:
    stale = 0
    for count in counts:
        before, server_s, client_s = read_memory(pid), read_cpu(family(pid)), time.process_time()
        tally = asyncio.run(load(f"ws://127.0.0.1:{port}", token, count, duration_s))
        show(count, tally)
        grown = (read_memory(pid) - before) / count
        server_ms = 1e3 * (read_cpu(family(pid)) - server_s) / (count * duration_s)
        client_ms = 1e3 * (time.process_time() - client_s) / (count * duration_s)
        missing = tally.sent - len(tally.waits_s)
        first_s = float(np.median(tally.first_s or [np.nan]))
        print(
            json.dumps(
                {
                    "server_cpu_ms_per_stream_second": round(server_ms, 2),
                    "client_cpu_ms_per_stream_second": round(client_ms, 2),
                    "megabytes_per_stream": round(grown, 2),
                    "first_decision_s": round(first_s, 1),
                    "without_a_decision": max(0, missing),
                }
            ),
            flush=True,
        )
        stale += tally.stale_accepts
    return stale


if __name__ == "__main__":
    main()
