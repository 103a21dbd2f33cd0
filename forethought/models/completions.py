"""OpenAI's chat completions for LangChain's chat models, asked in plain JSON.

The SDK's own resource walks through each parameter by its type before a request, to rename and convert what
a chat completion has not: that takes a quarter of a call's processor time, more with functions. The SDK's
client does all the rest: address, key, errors, connections, and reading the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion


@dataclass(frozen=True)
class PlainCompletions:
    """What a chat model calls as `client.chat.completions`; it does not stream."""

    client: AsyncOpenAI

    @property
    def with_raw_response(self) -> PlainCompletions:
        """Itself: its replies are unread (`parse`), as the SDK's raw ones."""
        return self

    async def create(self, *, extra_body: Mapping[str, Any] | None = None, **body: Any) -> Completion:
        """The reply to `body` with `extra_body`, JSON values. Raises openai.APIError."""
        whole = {**body, **(extra_body or {})}
        return Completion(await self.client.post("/chat/completions", body=whole, cast_to=ChatCompletion))


@dataclass(frozen=True)
class Completion:
    """A reply that has been read."""

    value: ChatCompletion

    def parse(self) -> ChatCompletion:
        """The reply; a text where the server sent no JSON."""
        return self.value
