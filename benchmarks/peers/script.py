"""The scripted model: the same look-ups in the same order, in the protocol that a request asks for.

It knows nothing but the prompt: it goes on from the bins that the prompt shows, and answers from those. So a
framework that loses an observation which it needs ends with a wrong answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks.peers import forethought_script
from benchmarks.peers.task import BATCH, Task

Json = dict[str, Any]
_PLAN = (
    "## 1. Facts survey\nThe task names where to begin; the stock of each bin is to be looked up.\n\n"
    "## 2. Plan\n1. Look up the bins that are left.\n2. Answer."
)


def reply(body: Json) -> Json:
    """The assistant's message. Raises ValueError where the prompt lacks what a model would need."""
    prompt = "\n".join(map(content_of, body["messages"]))
    task = Task.read(prompt)
    if "response_format" in body:
        return _text(
            json.dumps(forethought_script.reply(body["response_format"]["json_schema"], prompt, task))
        )
    if "<end_plan>" in body.get("stop", ()):
        return _text(_PLAN)
    tools = [tool["function"]["name"] for tool in body.get("tools", [])]
    left = task.following(prompt, 1 if body.get("parallel_tool_calls") is False else BATCH)
    bins, answer = [task.bin(number) for number in left], task.conclusion(task.seen(prompt))
    if not tools:
        return _text(_code(bins, answer))
    if bins:
        return _calls([("look_up", {"bin": name}) for name in bins])
    return _calls([("final_answer", {"answer": answer})]) if "final_answer" in tools else _text(answer)


def content_of(message: Json) -> str:
    """A message's text, with the calls that it holds."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    called = [call["function"] for call in message.get("tool_calls") or []]
    return content + "".join(function["name"] + function["arguments"] for function in called)


def _text(content: str) -> Json:
    return {"role": "assistant", "content": content}


def _calls(wanted: Sequence[tuple[str, Json]]) -> Json:
    functions = [{"name": name, "arguments": json.dumps(given)} for name, given in wanted]
    made = [{"id": f"call_{at}", "type": "function", "function": f} for at, f in enumerate(functions)]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _code(bins: Sequence[str], answer: str) -> str:
    """A block as smolagents wants it, up to the closing tag, which is its stop sequence."""
    if not bins:
        return f"Thought: Nothing is left to look up.\n<code>\nfinal_answer({answer!r})\n"
    loop = f"for name in {list(bins)!r}:\n    print(look_up(bin=name))"
    return f"Thought: I look up what comes next.\n<code>\n{loop}\n"
