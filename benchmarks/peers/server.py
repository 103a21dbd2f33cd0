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

from benchmarks.peers.script import content_of, reply
from benchmarks.peers.task import Task

Json = dict[str, Any]
CHARACTERS, STEP, LEAST = 4, 128, 1024
"""Of a token; tokens of a step of the cache, and of the shortest prompt that is cached."""


class Server:
    """Answers, and adds up what one cell of the grid asked."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, latency_ms: float) -> None:
        """Forget all, and answer after `latency_ms` from now on."""
        self.latency_s = latency_ms / 1000
        self.sums: Counter[str] = Counter()
        self.faults: list[str] = []
        self.prefixes: dict[int, set[int]] = defaultdict(set)
        self.ended: dict[int, float] = {}

    async def respond(self, path: str, body: bytes, size: int) -> tuple[int, Json]:
        """Status and body: of a cell's begin or end, or of a completion. `size`: bytes of the request."""
        given = json.loads(body)
        if path == "/begin":
            self.begin(**given)
            return 200, {}
        if path == "/end":
            return 200, {**self.sums, "faults": self.faults[:3]}
        try:
            return 200, await self.complete(given, size)
        except (ValueError, LookupError) as error:
            self.faults.append(repr(error))
            return 400, {"error": {"message": str(error), "type": "invalid_request_error", "code": None}}

    async def complete(self, request: Json, size: int) -> Json:
        """A completion. Raises ValueError, LookupError."""
        begun = asyncio.get_running_loop().time()
        prompt, message = canonical(request), reply(request)
        run = Task.read(prompt).run
        known, blocks = self.prefixes[run], list(_prefixes(prompt))
        cached = STEP * next((at for at, block in enumerate(blocks) if block not in known), len(blocks))
        cached *= cached >= LEAST
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        known.update(blocks)
        after_last = begun >= self.ended.get(run, 0)
        if after_last:  # of requests that overlap, the first to end counts, so this is the longest sequence
            self.ended[run] = asyncio.get_running_loop().time()
        asked, written = len(prompt) // CHARACTERS, len(content_of(message)) // CHARACTERS
        self.sums.update(calls=1, round_trips=after_last, bytes=size)
        self.sums.update(input_tokens=asked, cached_tokens=cached, output_tokens=written)
        usage = {
            "prompt_tokens": asked,
            "completion_tokens": written,
            "total_tokens": asked + written,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        head = {"id": "c", "object": "chat.completion", "created": 0, "model": "scripted"}
        return {**head, "choices": [choice], "usage": usage}

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The requests of one connection, until its client leaves."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                status, value = await self.respond(head.split(b" ")[1].decode(), body, len(head) + length)
                text = json.dumps(value).encode()
                head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
                writer.write(head.encode() + b"\r\n\r\n" + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def canonical(request: Json) -> str:
    """What a provider reads, in the order in which it caches."""
    parts = [json.dumps(request[name]) for name in ("tools", "response_format") if request.get(name)]
    return "\n".join(
        [*parts, *(f"<{message['role']}>{content_of(message)}" for message in request["messages"])]
    )


def _prefixes(prompt: str) -> Iterator[int]:
    """A hash of each prefix of whole steps."""
    before, length = 0, STEP * CHARACTERS
    for at in range(length, len(prompt) + 1, length):
        before = hash((before, prompt[at - length : at]))
        yield before


def _serve(port: Connection) -> None:
    async def run() -> None:
        server = await asyncio.start_server(Server().connection, "127.0.0.1", 0, backlog=4096, limit=1 << 26)
        port.send(server.sockets[0].getsockname()[1])
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
