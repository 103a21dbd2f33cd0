"""Many threads at the same time in one process, against a scripted model server in another.

    python -m benchmarks.concurrent_threads --threads 500
    python -m benchmarks.concurrent_threads --threads 500 --db threads.sqlite

Each thread's task is a plan of three subtasks, two of them side by side: six model calls, each answered after
50 to 200 ms. Without --db the threads are kept in memory (InMemorySaver, which the peak then includes), with
it in that database, as `forethought` keeps them. Prints the wall time, calls a second, and the process's
peak memory; exits with 1 where a thread was not answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.agent import build_agent
from forethought.models.live import LiveTransport
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.storage import address_of, open_threads
from forethought.tools.base import make_tool
from tests.support.agent import kind_of, subtask_of
from tests.support.exchange import SeenRequest
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

CALLS = 6
_FIRST_S, _LAST_S = 0.05, 0.2


def reply(seen: SeenRequest) -> dict[str, Any]:
    """The reply to a request, by role."""
    kind = kind_of(seen)
    if kind == "ToolChoice":
        key = subtask_of(seen)
        return finish("done") if key == "c" else call(key)
    replies = {
        "Plan": plan(sub("a"), sub("b"), sub("c", ["a", "b"])),
        "PlanDiagnosis": diagnosis(),
        "AnswerDraft": answer(),
    }
    return replies[kind]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection until its client leaves."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(head.split("content-length:")[1].split("\r\n")[0])
            seen = SeenRequest(0, json.loads(await reader.readexactly(length)), {})
            await asyncio.sleep(random.uniform(_FIRST_S, _LAST_S))
            writer.write(_response(reply(seen)))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _response(value: dict[str, Any]) -> bytes:
    message = {"role": "assistant", "content": json.dumps(value)}
    body = {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n"
    return head.encode() + text


def serve(port: Connection) -> None:
    """The server's process: tells its port, and runs until it is ended."""

    async def run() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=4096)
        port.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    asyncio.run(run())


@asynccontextmanager
async def opened(db: str | None) -> AsyncIterator[Any]:
    """What keeps the threads: a database, or the memory."""
    if db is None:
        yield InMemorySaver()
        return
    async with open_threads(address_of(Settings(db=db)), None) as saver:
        yield saver


async def run_threads(threads: int, url: str, folder: Path, db: str | None) -> Counter[str]:
    """Run them all at the same time; how many ended with which status."""
    async with opened(db) as saver:
        return await _run_threads(threads, url, folder, saver)


async def _run_threads(threads: int, url: str, folder: Path, saver: Any) -> Counter[str]:

    async def lookup(key: str, note: str | None = None) -> str:
        """Look something up.

        Args:
            key: What to look up.
            note: A remark, or null.
        """
        return f"value of {key}"

    settings = Settings(data_dir=folder, base_url=url, model="openai:scripted", request_timeout_s=300)
    graph = build_agent(
        tools=[make_tool(lookup)],
        settings=settings,
        checkpointer=saver,
        transport=LiveTransport(settings),
    )

    async def one(name: int) -> str:
        config: Any = {"configurable": {"thread_id": f"{uuid.uuid4()}"}}
        try:
            state = await graph.ainvoke({"task": f"task {name}"}, config, context=Context())
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:120]
        return str(state["status"])

    return Counter(await asyncio.gather(*map(one, range(threads))))


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--threads", type=int, default=500)
    parser.add_argument("--db", help="database of the threads: a path or an address (default: in memory)")
    given = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    try:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run_threads(1, url, Path(folder), given.db))  # what is loaded once is not counted
            before = resource.getrusage(resource.RUSAGE_SELF)
            started = time.monotonic()
            ended = asyncio.run(run_threads(given.threads, url, Path(folder), given.db))
            seconds = time.monotonic() - started
    finally:
        server.terminate()
        server.join()
    after = resource.getrusage(resource.RUSAGE_SELF)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    grown = (after.ru_maxrss - before.ru_maxrss) / 1024
    calls = given.threads * CALLS
    where = "in memory" if given.db is None else f"in {address_of(Settings(db=given.db)).shown}"
    print(f"threads: {given.threads}, kept {where}; ended: {dict(ended)}")
    print(f"wall: {seconds:.1f} s; processor: {processor:.1f} s; model calls: {calls / seconds:.0f} a second")
    print(
        f"peak memory: {after.ru_maxrss / 1024:.0f} MiB, {grown:.0f} MiB more than with one thread "
        f"({grown / given.threads:.2f} MiB a thread)"
    )
    return 0 if ended == {"answered": given.threads} else 1


if __name__ == "__main__":
    sys.exit(main())
