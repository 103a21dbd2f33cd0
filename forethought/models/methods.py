"""The ways of asking a provider for a reply of a given shape.

Best first: a strict JSON schema that the provider decodes against; one forced function (or those that are
offered); the schema in the prompt, which every provider takes.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from forethought.models.errors import status_of
from forethought.models.types import Image, Message, ModelRequest

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

Method = Literal["schema", "function", "prompt"]
_NAMES_METHOD = re.compile(
    r"response_format|json_schema|json schema|structured output|tool_choice|tools?\b|function|schema|strict|"
    r"parallel_tool_calls|response_mime|grammar",
    re.IGNORECASE,
)
_NAMES_LENGTH = re.compile(
    r"context.?(length|window)|too long|maximum.{0,20}tokens|too many tokens", re.IGNORECASE
)


@dataclass(frozen=True)
class Way:
    """A method and the chat model to use it with."""

    method: Method
    chat: BaseChatModel
    openai: bool


def speaks_openai(chat: BaseChatModel) -> bool:
    """Whether the chat model takes OpenAI's own parameters."""
    from langchain_openai.chat_models.base import BaseChatOpenAI

    return isinstance(chat, BaseChatOpenAI)


def refuses_method(error: Exception) -> bool:
    """Whether the provider's words are about the method or the schema, and not about the request itself."""
    text = str(error)
    return (
        status_of(error) in (400, 404, 422, 501)
        and bool(_NAMES_METHOD.search(text))
        and not _NAMES_LENGTH.search(text)
    )


def bound(request: ModelRequest, way: Way) -> Callable[[], Awaitable[AIMessage]]:
    """The question, ready to be put.

    Raises ValueError, TypeError or NotImplementedError where the provider's package has no such method.
    """
    asked = in_prompt(request) if way.method == "prompt" else request.messages
    messages = _messages(asked, way.openai)
    if way.method == "function":
        return partial(_bind_functions(request, way).ainvoke, messages)
    if way.method == "prompt":
        return partial(way.chat.ainvoke, messages)
    if way.openai:
        # In the extra body: with the argument, the SDK parses the reply itself and raises, usage lost.
        shape = {"name": request.reply, "schema": request.schema, "strict": True}
        form = {"response_format": {"type": "json_schema", "json_schema": shape}}
        return partial(way.chat.ainvoke, messages, extra_body=form)
    described = request.schema.get("description", request.reply)
    titled = {"title": request.reply, "description": described, **request.schema}
    structured = way.chat.with_structured_output(titled, method="json_schema", include_raw=True)

    async def ask() -> AIMessage:
        answered: Any = await structured.ainvoke(messages)
        raw: AIMessage = answered["raw"]
        return raw

    return ask


def _bind_functions(request: ModelRequest, way: Way) -> Any:
    """The chat model with the functions offered, or with one named as the reply, and a call forced."""
    offered = [(f.name, f.description, f.parameters) for f in request.functions] or [
        (request.reply, request.schema.get("description", f"The {request.reply}."), request.schema)
    ]
    tools = []
    for name, description, parameters in offered:
        function: dict[str, Any] = {"name": name, "description": description}
        function["parameters"] = parameters if way.openai else _unsealed(parameters)
        if way.openai and request.strict:
            function["strict"] = True
        tools.append({"type": "function", "function": function})
    options = {"parallel_tool_calls": False} if way.openai and len(tools) > 1 else {}
    return way.chat.bind_tools(tools, tool_choice=offered[0][0] if len(tools) == 1 else "any", **options)


def _unsealed(schema: Any) -> Any:
    """The schema without additionalProperties, which only strict decoding asks for and some packages warn
    of.
    """
    if isinstance(schema, list):
        return [_unsealed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _unsealed(value)
        for key, value in schema.items()
        if (key, value) != ("additionalProperties", False)
    }


def in_prompt(request: ModelRequest) -> tuple[Message, ...]:
    """The messages with the wanted shape written out at the end, for a provider that cannot be told it
    otherwise.
    """
    if request.functions:
        listed = "\n".join(
            f"- {f.name}: {f.description}\n  arguments: {json.dumps(f.parameters, ensure_ascii=False)}"
            for f in request.functions
        )
        wanted = (
            f"Reply ({request.reply}) with one JSON object and nothing else, which calls one of these "
            f'functions: {{"function": its name, "arguments": {{...}}}}\n{listed}'
        )
    else:
        schema = json.dumps(request.schema, ensure_ascii=False)
        wanted = (
            f"Reply with one JSON object and nothing else. It must fit the schema {request.reply}:\n{schema}"
        )
    *before, last = request.messages
    if last.role == "user":
        return (*before, replace(last, text=f"{last.text}\n\n{wanted}"))
    return (*request.messages, Message("user", wanted))


def _messages(messages: tuple[Message, ...], openai: bool) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[message.role](_content(message, openai)) for message in messages]


def _content(message: Message, openai: bool) -> str | list[Any]:
    """Plain text where there are no images, which every provider takes."""
    if not message.images:
        return message.text
    return [{"type": "text", "text": message.text}, *(_block(image, openai) for image in message.images)]


def _block(image: Image, openai: bool) -> dict[str, Any]:
    """An image as OpenAI's protocol has it, or as LangChain's content block, which its packages translate."""
    encoded = base64.b64encode(image.data).decode("ascii")
    if openai:
        return {"type": "image_url", "image_url": {"url": f"data:{image.mime};base64,{encoded}"}}
    return {"type": "image", "base64": encoded, "mime_type": image.mime}
