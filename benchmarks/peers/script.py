"""The scripted model: the same look-ups in the same order, in the protocol that a request asks for.

It knows nothing but the prompt: it goes on from the bins that the prompt shows, and adds up those. So a
framework that loses an observation ends with a wrong answer.
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
    prompt = "\n".join(_text(message.get("content")) for message in body["messages"])
    task = Task.read(prompt)
    tools = [tool["function"]["name"] for tool in body.get("tools", [])]
    if "response_format" in body or "finish" in tools:
        return forethought_script.reply(body, prompt, task)
    if "<end_plan>" in body.get("stop", ()):
        return {"role": "assistant", "content": _PLAN}
    answer = task.conclusion(task.seen(prompt))
    left = task.following(prompt, 1 if body.get("parallel_tool_calls") is False else BATCH)
    bins = [task.bin(number) for number in left]
    if not tools:
        return _code(bins, answer)
    if bins:
        return calls([("look_up", {"bin": name}) for name in bins])
    if "final_answer" in tools:
        return calls([("final_answer", {"answer": answer})])
    return {"role": "assistant", "content": answer}


def calls(wanted: Sequence[tuple[str, Json]]) -> Json:
    """A message that calls functions."""
    made = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for at, (name, given) in enumerate(wanted)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def _code(bins: Sequence[str], answer: str) -> Json:
    """A block of code as smolagents wants it, up to the closing tag, which is its stop sequence."""
    if not bins:
        text = f"Thought: Nothing is left to look up.\n<code>\nfinal_answer({answer!r})\n"
    else:
        loop = f"for name in {list(bins)!r}:\n    print(look_up(bin=name))"
        text = f"Thought: I look up what comes next.\n<code>\n{loop}\n"
    return {"role": "assistant", "content": text}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
