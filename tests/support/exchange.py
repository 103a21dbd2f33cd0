"""What passes between a test and the scripted model server: requests seen, replies and faults given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
_IN_PROMPT = re.compile(r"fit the schema (\w+):\n|Reply \((\w+)\) with one JSON object")
ROLE = re.compile(r"# Your role: .*?(?=\n# |\Z)", re.DOTALL)
"""A role's instructions, between the situation and the state."""


@dataclass(frozen=True)
class SeenRequest:
    """One request as the server got it."""

    n: int
    """Its number on this server, from 1; retries count."""
    body: Json
    headers: dict[str, str]

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message."""
        return [(message["role"], _text(message.get("content"))) for message in self.body["messages"]]

    @property
    def text(self) -> str:
        """All messages' text."""
        return "\n".join(text for _, text in self.messages)

    @property
    def role_text(self) -> str:
        """The system messages' text and the role's instructions: who the model is told to be."""
        system = [text for role, text in self.messages if role == "system"]
        return "\n".join([*system, *ROLE.findall(self.text)])

    @property
    def last(self) -> str:
        """The last message's text."""
        return self.messages[-1][1]

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that are offered."""
        return tuple(tool["function"]["name"] for tool in self.body.get("tools", []))

    @property
    def method(self) -> Literal["schema", "function", "functions", "object", "prompt", "text"]:
        """How the reply's shape is asked for; 'functions': several are offered, or one without being
        forced.
        """
        if "response_format" in self.body:
            return "schema" if self.body["response_format"]["type"] == "json_schema" else "object"
        if self.functions:
            return "function" if isinstance(self.body.get("tool_choice"), dict) else "functions"
        return "prompt" if _IN_PROMPT.search(self.text) else "text"

    @property
    def reply_name(self) -> str:
        """The name of the reply type ('' where several functions are offered or nothing is said)."""
        if self.method == "schema":
            return str(self.body["response_format"]["json_schema"]["name"])
        if self.method == "function":
            return str(self.body["tool_choice"]["function"]["name"])
        names = _IN_PROMPT.findall(self.text)
        return names[-1][0] or names[-1][1] if names else ""

    @property
    def schema(self) -> Json:
        """The schema sent with the request, wherever it stands; {} if there is none."""
        if self.method == "schema":
            return dict(self.body["response_format"]["json_schema"]["schema"])
        if self.method == "function":
            return dict(self.body["tools"][0]["function"]["parameters"])
        return {}

    @property
    def key(self) -> str:
        """The API key that was sent."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True)
class Reply:
    """A reply: an object (sent as the content or as the forced call) or text; or `calls` of functions."""

    value: Json | str = ""
    calls: tuple[tuple[str, Json | str], ...] = ()
    finish_reason: str = ""
    prompt_tokens: int = 100
    completion_tokens: int = 20
    cached_tokens: int = 0
    told: bool = True
    """Whether it says what it used."""
    pause_s: float = 0.0
    """Seconds that each piece of four characters takes, streamed or not."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong instead: an HTTP status as text ('429', '503', '401'), drop, dropmid, badbody, hang,
    trickle (a byte now and then, without end), stream (an event stream that breaks off), or a reply that is
    empty, length (cut off), refusal, filter (stopped by a content filter) or badjson.
    """

    kind: str
    retry_after: str | None = None
    message: str = "scripted fault"
    code: str | None = None
    type: str = "error"
    body: Any = None
    """The whole JSON of an HTTP status; None: OpenAI's form of message, type and code."""
    value: Json = field(default_factory=lambda: {"answer": "a scripted reply that is cut"})


Answer = Reply | Fault | Json | str
Policy = Callable[[SeenRequest], Answer]


def script(*answers: Answer, then: Answer | None = None) -> Policy:
    """A policy that gives `answers` in turn, and then `then` (or the last one) for ever."""

    def policy(seen: SeenRequest) -> Answer:
        if seen.n <= len(answers):
            return answers[seen.n - 1]
        return answers[-1] if then is None else then

    return policy


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
