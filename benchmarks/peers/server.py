"""The model's server, in a process of its own: replies after a set latency, and what they came to.

Tokens are characters / 4 of the tools, the reply's schema and the messages, in this order. A prompt of 1024
tokens or more is cached by its prefix in steps of 128, as OpenAI does, within a run and once it is answered.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.peers.script import reply
from benchmarks.peers.task import Task

Json = dict[str, Any]
CHARACTERS, STEP, LEAST = 4, 128, 1024
"""Of a token; tokens of a step of the cache, and of the shortest prompt that is cached."""


class Server:
    """Answers, and adds up what one cell of the grid asked."""

    def __init__(self) -> None:
        self.begin(0.0)

    def begin(self, latency_ms: float) -> None:
        """Forget all, and answer after `latency_ms` from now on."""
        self.latency_s = latency_ms / 1000
        self.sums: Counter[str] = Counter()
        self.faults: list[str] = []
        self.prefixes: dict[int, set[int]] = defaultdict(set)
        self.intervals: dict[int, list[tuple[float, float]]] = defaultdict(list)

    def figures(self) -> Json:
        """The sums over all runs, and how many requests of a run came one after another at most."""
        trips = sum(map(_one_after_another, self.intervals.values()))
        return {**self.sums, "round_trips": trips, "faults": self.faults[:3]}

    async def answer(self, body: bytes, size: int) -> tuple[int, Json]:
        """Status and body of a completion; `size` in bytes is the whole request's."""
        begun = asyncio.get_running_loop().time()
        request = json.loads(body)
        prompt = canonical(request)
        try:
            task, message = Task.read(prompt), reply(request)
        except (ValueError, LookupError) as error:
            self.faults.append(f"{type(error).__name__}: {error}")
            return 400, {"error": {"message": str(error), "type": "invalid_request_error", "code": None}}
        known, blocks = self.prefixes[task.run], list(_prefixes(prompt))
        cached = STEP * next((at for at, block in enumerate(blocks) if block not in known), len(blocks))
        cached *= cached >= LEAST
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        known.update(blocks)
        self.intervals[task.run].append((begun, asyncio.get_running_loop().time()))
        asked, written = len(prompt) // CHARACTERS, len(_content(message)) // CHARACTERS
        self.sums.update(calls=1, input_tokens=asked, cached_tokens=cached, output_tokens=written, bytes=size)
        usage = {
            "prompt_tokens": asked,
            "completion_tokens": written,
            "total_tokens": asked + written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        ended = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": ended, "logprobs": None}
        head = {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted"}
        return 200, {**head, "choices": [choice], "usage": usage}

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The requests of one connection, until its client leaves."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                body = await reader.readexactly(length)
                status, value = await self.route(head.split(b" ")[1].decode(), body, len(head) + length)
                text = json.dumps(value).encode()
                lines = (
                    f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
                )
                writer.write(f"{lines}\r\n\r\n".encode() + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def route(self, path: str, body: bytes, size: int) -> tuple[int, Json]:
        """A completion, or a worker that begins (`/begin`) or ends (`/end`) a cell."""
        if path == "/begin":
            self.begin(json.loads(body)["latency_ms"])
            return 200, {}
        return (200, self.figures()) if path == "/end" else await self.answer(body, size)


def canonical(request: Json) -> str:
    """What a provider reads, in the order in which it caches."""
    parts = [json.dumps(request[name]) for name in ("tools", "response_format") if request.get(name)]
    return "".join(
        [*parts, *(f"\n<{message['role']}>{_content(message)}" for message in request["messages"])]
    )


def _content(message: Json) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    called = [call["function"] for call in message.get("tool_calls") or []]
    return content + "".join(f["name"] + f["arguments"] for f in called)


def _prefixes(prompt: str) -> Iterator[int]:
    """A hash of each prefix of whole steps."""
    before, length = 0, STEP * CHARACTERS
    for at in range(length, len(prompt) + 1, length):
        before = hash((before, prompt[at - length : at]))
        yield before


def _one_after_another(intervals: list[tuple[float, float]]) -> int:
    """The longest sequence of intervals that do not overlap."""
    free, count = 0.0, 0
    for begun, ended in sorted(intervals, key=lambda interval: interval[1]):
        if begun >= free:
            free, count = ended, count + 1
    return count


def _serve(port: Connection) -> None:
    async def run() -> None:
        server = await asyncio.start_server(Server().connection, "127.0.0.1", 0, backlog=4096, limit=1 << 26)
        port.send(server.sockets[0].getsockname()[1])
        async with server:
            await server.serve_forever()

    asyncio.run(run())


@contextmanager
def served() -> Iterator[str]:
    """The address of a server that runs meanwhile."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()
