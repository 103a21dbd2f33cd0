"""The ways of asking a provider for a reply of a given shape.

Best first: a strict JSON schema that the provider decodes against; one forced function (or those that are
offered); any JSON object, and the schema in the prompt; the schema in the prompt alone, which every provider
takes.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from langgraph.constants import TAG_NOSTREAM

from forethought.models.forms import Form
from forethought.models.listening import listen
from forethought.models.types import Message, ModelRequest

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

_UNSEEN: RunnableConfig = {"tags": [TAG_NOSTREAM]}
"""Keeps what the roles write, which is JSON, out of a run's `messages` stream."""
_HEAD_CHARS = 1_000
"""Characters after the rules in which a task's prompts begin alike, and those of most others do not."""
_LIMITS = ("max_output_tokens", "num_predict", "max_tokens")
"""The field that limits replies in LangChain's packages."""
_CALL = {"function": {"type": "string"}, "arguments": {"type": "object"}}
_ANY_CALL = {"type": "object", "properties": _CALL, "required": list(_CALL)}


def bind_request(
    request: ModelRequest, form: Form, chat: BaseChatModel, *, patience_s: float, in_thread: bool = False
) -> Callable[[], Awaitable[AIMessage]]:
    """The question, ready to be put. The raw message is taken, so that a bad reply's cost is counted too.

    Args:
        request: The question.
        form: The form of the request.
        chat: The chat model.
        patience_s: Seconds to wait for the reply, or for each piece of one that is streamed.
        in_thread: By the chat model's synchronous client, since the other one works in one event loop only.

    Returns:
        A function that puts the question.

    Raises:
        ValueError, TypeError, NotImplementedError: The provider's package has no such method.
    """
    from langchain_openai.chat_models.base import BaseChatOpenAI

    openai = isinstance(chat, BaseChatOpenAI)
    responses = openai and bool(getattr(chat, "use_responses_api", None))
    asked_in_prompt = form.method in ("object", "prompt")
    texts = in_prompt(request) if asked_in_prompt else request.messages
    messages = langchain_messages(texts if form.sends("system", request) else without_system(texts))
    keyed = is_openai(chat) and form.sends("cache_key", request)
    options: Any = {"prompt_cache_key": _cache_key(request)} if keyed else {}
    body: dict[str, Any] = {}
    if form.streams:
        chat = chat.model_copy(update={"disable_streaming": False})
        options |= {"stream_usage": form.sends("usage", request)} if openai and not responses else {}
    if form.sends("limit", request):
        chat, limits = _limited(request, form, chat, openai, responses)
        options |= {"max_tokens": request.limit} if limits is None else {}
        body |= limits or {}
    asked: Any = chat
    if form.method == "function":
        asked = _bind_functions(request, form, chat, openai)
    elif form.method == "object":
        shape: Any = {"type": "json_object"}
        if (
            not is_openai(chat) and not responses
        ):  # llama.cpp and its kin decode against it; others leave it unread
            shape["schema"] = _ANY_CALL if request.functions else request.schema
        body |= {"text": {"format": shape}} if responses else {"response_format": shape}
    elif form.method == "schema" and openai:
        # In the extra body: with the argument, the SDK parses the reply itself and raises, usage lost.
        strict = {"strict": True} if form.sends("strict", request) else {}
        inner = {"name": request.reply, "schema": request.schema, **strict}
        kind = {"type": "json_schema"}
        body |= (
            {"text": {"format": kind | inner}}
            if responses
            else {"response_format": {**kind, "json_schema": inner}}
        )
    elif form.method == "schema":
        described = request.schema.get("description", request.reply)
        titled = {"title": request.reply, "description": described, **request.schema}
        structured: Any = chat.with_structured_output(titled, method="json_schema", include_raw=True)
        asked = structured.first.steps__["raw"]  # what comes after it parses the reply
    options |= {"extra_body": body} if body else {}
    if form.streams:
        stream = partial(_stream_in_thread if in_thread else type(asked).astream, asked)
        begin = partial(stream, messages, _UNSEEN, **options)
        return partial(listen, begin, request.listener, request.limit, patience_s)
    invoke = partial(asyncio.to_thread, asked.invoke) if in_thread else asked.ainvoke
    return partial(_in_time, partial(invoke, messages, _UNSEEN, **options), patience_s)


async def _in_time(put: Callable[[], Awaitable[AIMessage]], patience_s: float) -> AIMessage:
    async with asyncio.timeout(patience_s):
        return await put()


async def _stream_in_thread(asked: Any, *question: Any, **options: Any) -> AsyncGenerator[Any]:
    chunks = asked.stream(*question, **options)
    while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
        yield chunk


def _limited(
    request: ModelRequest, form: Form, chat: BaseChatModel, openai: bool, responses: bool
) -> tuple[Any, Any]:
    """The chat model and the fields of the body that limit the reply; None: the package turns its own
    argument into the field of its protocol."""
    if responses:
        return chat, None
    if openai:
        own = form.sends("max_tokens", request) and not is_openai(chat)
        return chat, {"max_tokens" if own else "max_completion_tokens": request.limit}
    field = next((name for name in _LIMITS if name in type(chat).model_fields), None)
    return (chat.model_copy(update={field: request.limit}) if field else chat), {}


def is_openai(chat: BaseChatModel) -> bool:
    """Whether `chat` asks OpenAI itself: other servers of its protocol may refuse a field that they do not
    know."""
    client = getattr(chat, "root_async_client", None)
    return client is not None and client.base_url.host == "api.openai.com"


def _cache_key(request: ModelRequest) -> str:
    """The same for all prompts that begin alike, as a task's do: OpenAI sends them to the same machine, which
    has their beginning in its cache."""
    rules, situation, *_ = [*(message.text for message in request.messages), ""]
    return sha256(f"{rules}{situation[:_HEAD_CHARS]}".encode(errors="replace")).hexdigest()[:32]


def _bind_functions(request: ModelRequest, form: Form, chat: BaseChatModel, openai: bool) -> Any:
    """The chat model with the functions offered, or with one named as the reply, and a call forced."""
    offered = [(f.name, f.description, f.parameters) for f in request.functions] or [
        (request.reply, request.schema.get("description", f"The {request.reply}."), request.schema)
    ]
    strict = {"strict": True} if openai and form.sends("strict", request) else {}
    tools = [
        {
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters, **strict},
        }
        for name, description, parameters in offered
    ]
    options: Any = {"parallel_tool_calls": False} if openai and form.sends("parallel", request) else {}
    if form.sends("choice", request):
        options["tool_choice"] = offered[0][0] if form.sends("named", request) else "any"
    return chat.bind_tools(tools, **options)


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


def without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with the system's text at the beginning of the first other one."""
    rules = "\n\n".join(message.text for message in messages if message.role == "system")
    first, *rest = [message for message in messages if message.role != "system"]
    return (replace(first, text=f"{rules}\n\n{first.text}"), *rest)


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
