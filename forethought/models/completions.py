"""OpenAI's chat completions for LangChain's chat models, as plain JSON both ways.

The SDK's own resource walks through each parameter and each field of the reply by its type, to rename and
convert what a chat completion has not: that takes half of a call's processor time. The SDK's client does all
the rest: address, key, errors, connections.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Self

from openai import AsyncOpenAI, AsyncStream
from openai._base_client import make_request_options

_OPTIONS = {"extra_headers", "extra_query", "extra_body", "timeout"}
"""Parameters of the SDK's `create` that are no part of a request's body."""


@dataclass(frozen=True)
class PlainCompletions:
    """What a chat model calls as `client.chat.completions`."""

    client: AsyncOpenAI

    @property
    def with_raw_response(self) -> PlainCompletions:
        """Itself: its replies are unread (`parse`), as the SDK's raw ones."""
        return self

    async def create(self, **parameters: Any) -> Completion | Chunks:
        """The reply to `parameters`: JSON values, and the SDK's options of a request. Raises
        openai.APIError."""
        options = make_request_options(**{key: parameters.pop(key) for key in _OPTIONS & parameters.keys()})
        if parameters.get("stream"):
            pieces: AsyncStream[object] = await self.client.post(
                "/chat/completions",
                body=parameters,
                options=options,
                cast_to=object,
                stream=True,
                stream_cls=AsyncStream[object],
            )
            return Chunks(pieces)
        reply = await self.client.post("/chat/completions", body=parameters, options=options, cast_to=str)
        return Completion(reply)


@dataclass(frozen=True)
class Completion:
    """A reply as it came."""

    text: str

    def parse(self) -> Any:
        """Its JSON; the text itself where it is none, for LangChain to show.

        LangChain reads no refusal from JSON: it stands as the content, ended by a refusal.
        """
        try:
            value = json.loads(self.text)
        except ValueError:
            return self.text
        match value:
            case {"choices": [{"message": {"refusal": str(refusal)} as message} as choice, *_]} if refusal:
                message["content"], choice["finish_reason"] = refusal, "refusal"
        return value


@dataclass
class Chunks:
    """A reply as it comes: chunks of a chat completion as JSON. A server that does not stream sends one."""

    stream: AsyncStream[object]
    refused: bool = False
    ended: bool = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stream.close()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        """Raises openai.APIError, and ValueError where the reply breaks off or is none."""
        response = self.stream.response
        if "json" in response.headers.get("content-type", ""):
            yield _whole(Completion((await response.aread()).decode()).parse())
            return
        async for chunk in self.stream:
            if isinstance(chunk, dict):
                yield self._chunk(chunk)
        if not self.ended:
            raise ValueError("the reply ended early")

    def _chunk(self, chunk: dict[str, Any]) -> dict[str, Any]:
        """The chunk, with a refusal as the content, as `Completion.parse` has it."""
        match chunk:
            case {"choices": [{"delta": dict(delta)} as choice, *_]}:
                if refusal := delta.get("refusal"):
                    delta["content"], self.refused = refusal, True
                if choice.get("finish_reason"):
                    self.ended = True
                    choice["finish_reason"] = "refusal" if self.refused else choice["finish_reason"]
        return chunk


def _whole(reply: Any) -> dict[str, Any]:
    """A reply that came at once, as the one chunk of its stream. Raises ValueError."""
    match reply:
        case {"choices": [{"message": dict(message)} as choice, *_]}:
            calls = enumerate(message.get("tool_calls") or ())
            choice["delta"] = {**message, "tool_calls": [{"index": at, **call} for at, call in calls]}
            return dict(reply)
    raise ValueError("the reply is not a chat completion")
