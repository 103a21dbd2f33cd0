"""A scripted model that is hasty: it leaves the fee out of its plan, and out of its answer.

It looks the fee up only where its system prompt says so: in a revised plan, or in what a check found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import ToolException, tool
from pydantic import Field

Json = dict[str, Any]
TASK = "What does a blue lamp cost in Arden, the market's fee included?"
ROLES = {
    "planner": "# Your role: planner",
    "reflector": "# Your role: prospective",
    "checker": "# Your role: check",
}
PRICE = {"id": "price", "description": "Find the price of the lamp.", "depends_on": [], "expected": "euros"}
FEE = {"id": "fee", "description": "Find the market's fee with fee.", "depends_on": [], "expected": "euros"}
FLAW = {
    "evidence": "no subtask finds the fee",
    "risk": "the sum lacks it",
    "error_type": "insufficient_constraint_verification",
}


@tool
def price(item: str) -> str:
    """The price of an item in Arden.

    Args:
        item: The item's name.
    """
    if item == "nothing":
        raise ToolException("there is no such item")
    return f"{item}: 40 euros"


@tool
def fee() -> str:
    """The fee of Arden's market."""
    return "the fee is 3 euros"


price.handle_tool_error = True


def role_of(text: str) -> str:
    """Whose prompt it is."""
    return next((role for role, words in ROLES.items() if words in text), "worker")


class HastyClerk(BaseChatModel):
    """The model; it records what each role was asked."""

    replies: Mapping[str, Any] = Field(default_factory=dict)
    """What a role says instead, a text or JSON."""
    wrong_first: int = 0
    """How often it asks for an item that is not there."""
    down: Sequence[str] = ()
    """Roles for which it cannot be had."""
    asked: list[tuple[str, str]] = Field(default_factory=list)
    """Role and prompt of each call."""

    @property
    def counts(self) -> Counter[str]:
        """How often each role was asked."""
        return Counter(role for role, _ in self.asked)

    @property
    def _llm_type(self) -> str:
        return "hasty"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """Itself: it knows its tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        chunks: list[Json] = [
            {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": at}
            for at, call in enumerate(reply.tool_calls)
        ]
        for word in [*reply.text.split(" "), ""][:-1]:
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=chunks))

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        text = "\n".join(message.text for message in messages)
        role = role_of(text)
        self.asked.append((role, text))
        if role in self.down:
            raise ConnectionError("the model is overloaded")
        if role in self.replies:
            said = self.replies[role]
            return AIMessage(said if isinstance(said, str) else json.dumps(said))
        return self._work(messages) if role == "worker" else AIMessage(json.dumps(reply_of(role, text)))

    def _work(self, messages: list[BaseMessage]) -> AIMessage:
        start = max(at for at, message in enumerate(messages) if message.type == "human")
        seen = [message.text for message in messages[start:] if isinstance(message, ToolMessage)]
        system = messages[0].text if messages[0].type == "system" else ""
        failed = sum("no such item" in text for text in seen)
        if failed < self.wrong_first:
            return _call(len(seen), "price", item="nothing")
        if not any("40" in text for text in seen):
            return _call(len(seen), "price", item="lamp")
        if "with fee" in system and not any("fee" in text for text in seen):
            return _call(len(seen), "fee")
        return AIMessage(
            "It costs 43 euros." if any("fee" in text for text in seen) else "It costs 40 euros."
        )


def _call(number: int, name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{number}_{name}"}])


def reply_of(role: str, text: str) -> Json:
    """What planner, reflector and checker say: the first forgets the fee, the others miss it."""
    if role == "planner":
        return {"known": ["it is about Arden"], "subtasks": [PRICE]}
    if role == "reflector":
        plan = text.split("# The plan to examine")[1]
        return (
            {"errors": [], "subtasks": []}
            if "with fee" in plan
            else {"errors": [FLAW], "subtasks": [PRICE, FEE]}
        )
    done = "the fee is 3 euros" in text.split("# The steps")[1]
    check = {
        "about": "the fee",
        "done": "step 2" if done else "no step shows it",
        "ok": "yes" if done else "no",
    }
    return {"checks": [check], "work": "" if done else "Find the fee with fee and add it."}
