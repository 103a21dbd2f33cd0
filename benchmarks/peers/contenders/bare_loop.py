"""The floor: a loop over chat completions with httpx and nothing else. Nothing is kept on disk."""

from __future__ import annotations

import json
import ssl
from contextlib import asynccontextmanager
from typing import Any

import httpx

from benchmarks.peers.contenders import LookUp, Options, Plays
from benchmarks.peers.task import Task

SYSTEM = "Use the tool for what you do not know. Then answer in one sentence."
_LOOK_UP = {
    "name": "look_up",
    "description": "Look up what is in a bin.",
    "parameters": {"type": "object", "properties": {"bin": {"type": "string"}}, "required": ["bin"]},
}


@asynccontextmanager
async def opened(url: str, look_up: LookUp, options: Options) -> Plays:
    """See the package."""
    context = ssl.create_default_context()

    async def play(task: Task) -> str:
        messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        messages.append({"role": "user", "content": task.text})
        tools = [{"type": "function", "function": _LOOK_UP}]
        # A client of its own: httpx looks through all connections of a pool at every request.
        async with httpx.AsyncClient(base_url=url, timeout=600, verify=context) as client:
            while True:
                body = {"model": "scripted", "messages": messages, "tools": tools}
                response = await client.post("/v1/chat/completions", json=body)
                message = response.raise_for_status().json()["choices"][0]["message"]
                messages.append(message)
                if not message.get("tool_calls"):
                    return str(message["content"])
                for call in message["tool_calls"]:
                    found = look_up(**json.loads(call["function"]["arguments"]))
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": found})

    yield play
