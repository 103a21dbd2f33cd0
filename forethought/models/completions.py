"""OpenAI's chat completions for LangChain's chat models, as plain JSON both ways.

The SDK's own resource walks through each parameter and each field of the reply by its type, to rename and
convert what a chat completion has not: that takes half of a call's processor time. The SDK's client does all
the rest: address, key, errors, connections.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from openai import AsyncOpenAI
from openai._base_client import make_request_options

_OPTIONS = {"extra_headers", "extra_query", "extra_body", "timeout"}
"""Parameters of the SDK's `create` that are no part of a request's body."""


@dataclass(frozen=True)
class PlainCompletions:
    """What a chat model calls as `client.chat.completions`; it does not stream."""

    client: AsyncOpenAI

    @property
    def with_raw_response(self) -> PlainCompletions:
        """Itself: its replies are unread (`parse`), as the SDK's raw ones."""
        return self

    async def create(self, **parameters: Any) -> Completion:
        """The reply to `parameters`: JSON values, and the SDK's options of a request. Raises
        openai.APIError."""
        options = make_request_options(**{key: parameters.pop(key) for key in _OPTIONS & parameters.keys()})
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
