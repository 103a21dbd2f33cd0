"""What the nodes work with besides the state: built once a graph, and once a node's turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic

from langgraph.runtime import Runtime

from forethought.models.allowance import Allowance
from forethought.models.ask import Models
from forethought.models.types import (
    Listener,
    Message,
    ModelError,
    ReplayError,
    ReplyError,
    ReplySpec,
    T,
    Usage,
)
from forethought.nodes.support.progress import with_progress
from forethought.nodes.support.spoken import stream_callbacks
from forethought.settings import Settings
from forethought.state.agent import AgentState
from forethought.state.context import Context, Role, bounded, models_of
from forethought.state.reply_style import why_lean, with_style
from forethought.tools.base import Tool
from forethought.tools.files import FileStore
from forethought.tools.mcp import McpBox
from forethought.tools.registry import offered
from forethought.users import LOCAL_USER, label_of


@dataclass(frozen=True)
class Services:
    """The operator's settings, the tools, the models and the file store; nothing of any run."""

    settings: Settings
    tools: dict[str, Tool]
    models: Models
    store: FileStore
    mcp: McpBox | None = None
    readings: dict[Any, tuple[asyncio.Lock, list[Any]]] = field(default_factory=dict)
    """Grants that subtasks side by side are reading, by thread and words."""
    chats: Mapping[str, str] = field(default_factory=dict)
    """Default model of each of the Context's model fields, for models passed as objects."""
    one_worker: bool = False
    """Whether one worker, which sees all that was done, carries a plan out: an agent of another framework. It
    goes on where our model fails."""

    def offered(self, state: AgentState) -> dict[str, Tool]:
        """The tools that the task's prompts and schemas offer."""
        return offered(self.tools, state.get("files", []), state.get("folders", []))

    def for_user(self, user: str) -> Services:
        """These services with no files but the user's own, by name and by hash: each of a server's users has
        folders of their own."""
        if user == LOCAL_USER:
            return self
        label, named = label_of(user), self.settings.files_dir
        settings = self.settings.model_copy(update={"files_dir": named and named / label})
        store = replace(self.store, root=self.store.root / "users" / label)
        return replace(self, settings=settings, store=store)

    async def turn(self, runtime: Runtime[Context]) -> Turn:
        """The turn of a node for the run's user, with the tools of the MCP servers from the first one on.

        Raises McpSetupError when a server cannot be used, ValueError when the Context asks for what the
        operator does not allow, and UnknownSetting.
        """
        given = (
            runtime.context
        )  # of another type where another graph, with a context of its own, runs this one
        asked = Context.model_validate(given if isinstance(given, Mapping | Context) else {})
        chats = {name: chat for name, chat in self.chats.items() if name not in asked.model_fields_set}
        context = bounded(asked.model_copy(update=chats), self.settings)
        if self.mcp is not None:
            await self.mcp.fill(self.tools)
        window = self.models.window(models_of(context), context.context_tokens)
        context = context.model_copy(update={"context_tokens": window})
        why = "" if self.one_worker else why_lean(context)
        return Turn(self.for_user(user_of(runtime)), with_style(context, lean=bool(why)), runtime, why)


def user_of(runtime: Runtime[Any]) -> str:
    """Who the server says that its client is; LOCAL_USER where it asks nobody. Never what the client says."""
    info = runtime.server_info
    user = info.user if info is not None else None
    return str(user.identity) if user is not None else LOCAL_USER


@dataclass(frozen=True)
class AskResult(Generic[T]):
    """What a question to a model came to, and what it cost."""

    reply: T | None
    """None if no valid reply came."""
    usage: Usage
    text: str = ""
    """JSON text of the reply."""
    problem: str = ""
    """Why there is no valid reply."""
    error: ModelError | None = None


@dataclass(frozen=True)
class Turn:
    """One turn of a node: its services, the run's Context within the operator's bounds, and its runtime."""

    services: Services
    context: Context
    runtime: Runtime[Context]
    why_lean: str = ""
    """Why prompts and replies are lean; '' if they are full."""

    def emit(self, event: str, **details: Any) -> None:
        """Send a custom stream event. It carries no task id of its own, so details name the subtask."""
        self.runtime.stream_writer({"event": event, **details})

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        reply: ReplySpec[T],
        allowed: Allowance,
        *,
        check: Callable[[T], str | None] | None = None,
        model: Role | None = None,
        lenient: bool = False,
        event: Mapping[str, Any] | None = None,
        listener: Listener | None = None,
    ) -> AskResult[T]:
        """Ask the model of `role`, or of `model`; a reply that stays invalid is a result without one.

        With `lenient` any failure of the model is such a result. `event` holds the details of the stream
        events that announce the call and its reply; `listener` hears the replies while they come. Raises the
        other ModelErrors, and ReplayError in any case: a recording that lacks a reply would go unseen.
        """
        if event is not None:
            self.emit("thinking", role=role, **event)
        if stream_callbacks():  # somebody watches
            about = {key: value for key, value in (event or {}).items() if key == "subtask"}
            listener = with_progress(listener, partial(self.emit, **about), role)
        try:
            result = await self.services.models.ask(
                role=role,
                model=self.context.model_for(model or role),  # type: ignore[arg-type]
                fallback=self.context.fallback_model,
                messages=messages,
                reply=reply,
                check=check,
                allowance=allowed,
                listener=listener,
                window=self.context.context_tokens,
            )
        except ReplayError:
            raise
        except ModelError as error:
            if not (lenient or self.services.one_worker or isinstance(error, ReplyError)):
                raise
            problem = (error.problem if isinstance(error, ReplyError) else "") or str(error)
            return AskResult(None, error.usage, problem=problem, error=error)
        if event is not None:
            self.emit("replied", role=role, **event, reply=json.loads(result.text))
        return AskResult(result.reply, result.usage, result.text)
