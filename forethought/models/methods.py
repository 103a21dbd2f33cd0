"""The ways of asking a provider for a reply of a given shape.

Best first: a strict JSON schema that the provider decodes against; one forced function (or those that are
offered); the schema in the prompt, which every provider takes.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from langgraph.constants import TAG_NOSTREAM

from forethought.models.types import Listener, Message, ModelRequest

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

_UNSEEN: RunnableConfig = {"tags": [TAG_NOSTREAM]}
"""Keeps what the roles write, which is JSON, out of a run's `messages` stream."""
_HEAD_CHARS = 1_000
"""Characters after the rules in which a task's prompts begin alike, and those of most others do not."""
Method = Literal["schema", "function", "prompt"]


def methods_for(request: ModelRequest, profile: Any) -> list[Method]:
    """What the model's profile does not rule out, best first; the prompt is always left."""
    methods: list[Method] = []
    if request.strict and not request.functions and profile.get("structured_output") is not False:
        methods.append("schema")
    if profile.get("tool_calling") is not False:
        methods.append("function")
    return [*methods, "prompt"]


def bind_request(
    request: ModelRequest, method: Method, chat: BaseChatModel, *, in_thread: bool = False
) -> Callable[[], Awaitable[AIMessage]]:
    """The question, ready to be put. The raw message is taken, so that a bad reply's cost is counted too.

    `in_thread`: by the chat model's synchronous client, since the other one works in one event loop only.

    Raises ValueError, TypeError or NotImplementedError where the provider's package has no such method.
    """
    from langchain_openai.chat_models.base import BaseChatOpenAI

    openai = isinstance(chat, BaseChatOpenAI)
    messages = langchain_messages(in_prompt(request) if method == "prompt" else request.messages)
    options: Any = {"prompt_cache_key": _cache_key(request)} if _keys_caches(chat) else {}
    if request.listener:
        chat = chat.model_copy(update={"disable_streaming": False})
        options |= {"stream_usage": True} if openai else {}
    asked: Any = chat
    if method == "function":
        asked = _bind_functions(request, chat, openai)
    elif method == "schema" and openai:
        # In the extra body: with the argument, the SDK parses the reply itself and raises, usage lost.
        shape = {"name": request.reply, "schema": request.schema, "strict": True}
        options["extra_body"] = {"response_format": {"type": "json_schema", "json_schema": shape}}
    elif method == "schema":
        described = request.schema.get("description", request.reply)
        titled = {"title": request.reply, "description": described, **request.schema}
        structured: Any = chat.with_structured_output(titled, method="json_schema", include_raw=True)
        asked = structured.first.steps__["raw"]  # what comes after it parses the reply
    if request.listener:
        stream = _stream_in_thread if in_thread else type(asked).astream
        return partial(_listen, partial(stream, asked, messages, _UNSEEN, **options), request.listener)
    if in_thread:
        return partial(asyncio.to_thread, asked.invoke, messages, _UNSEEN, **options)
    return partial(asked.ainvoke, messages, _UNSEEN, **options)


async def _stream_in_thread(asked: Any, *question: Any, **options: Any) -> AsyncIterator[Any]:
    chunks = asked.stream(*question, **options)
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk


async def _listen(stream: Callable[[], AsyncIterator[Any]], listener: Listener) -> AIMessage:
    """The reply, of which `listener` is told while it comes."""
    from langchain_core.messages import AIMessageChunk, message_chunk_to_message
    from langchain_core.messages.ai import add_ai_message_chunks

    chunks, text = list[Any](), ""
    async for chunk in stream():
        if not isinstance(chunk, AIMessageChunk):  # of a model that does not stream
            return chunk  # type: ignore[no-any-return]
        chunks.append(chunk)
        if more := chunk.text or "".join(call["args"] or "" for call in chunk.tool_call_chunks):
            text += more
            await listener(text)
    reply: Any = message_chunk_to_message(add_ai_message_chunks(*chunks))
    return reply  # type: ignore[no-any-return]


def _keys_caches(chat: BaseChatModel) -> bool:
    """Whether `chat` asks OpenAI itself: other servers of its protocol may refuse a field that they do not
    know."""
    client = getattr(chat, "root_async_client", None)
    return client is not None and client.base_url.host == "api.openai.com"


def _cache_key(request: ModelRequest) -> str:
    """The same for all prompts that begin alike, as a task's do: OpenAI sends them to the same machine, which
    has their beginning in its cache."""
    rules, situation, *_ = [*(message.text for message in request.messages), ""]
    return sha256(f"{rules}{situation[:_HEAD_CHARS]}".encode(errors="replace")).hexdigest()[:32]


def _bind_functions(request: ModelRequest, chat: BaseChatModel, openai: bool) -> Any:
    """The chat model with the functions offered, or with one named as the reply, and a call forced."""
    offered = [(f.name, f.description, f.parameters) for f in request.functions] or [
        (request.reply, request.schema.get("description", f"The {request.reply}."), request.schema)
    ]
    strict = {"strict": True} if openai and request.strict else {}
    tools = [
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters, **strict},
        }
        for name, description, parameters in offered
    ]
    options = {"parallel_tool_calls": False} if openai and len(tools) > 1 else {}
    return chat.bind_tools(tools, tool_choice=offered[0][0] if len(tools) == 1 else "any", **options)


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


def langchain_messages(messages: tuple[Message, ...]) -> list[Any]:
    """The messages as LangChain's."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    kinds = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [kinds[message.role](_content(message)) for message in messages]


def _content(message: Message) -> str | list[Any]:
    """Plain text where there are no images, which every provider takes; else LangChain's content blocks."""
    if not message.images:
        return message.text
    images = [
        {"type": "image", "base64": base64.b64encode(image.data).decode("ascii"), "mime_type": image.mime}
        for image in message.images
    ]
    return [{"type": "text", "text": message.text}, *images]
