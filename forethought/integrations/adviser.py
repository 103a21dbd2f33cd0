"""Who plans for workers of other frameworks: its settings, its models, and what it is told of their tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.models.ask import Models
from forethought.models.chat_objects import ChatObjects
from forethought.models.live import LiveTransport
from forethought.models.types import Transport
from forethought.nodes.support.services import Services, Turn
from forethought.settings import Settings
from forethought.state.context import Context, bounded
from forethought.tools.base import Tool, make_tool
from forethought.tools.files import FileStore


class Adviser:
    """Who plans for a worker and checks its answers, whatever its task.

    `model` is asked, or the worker's own; `switches` are fields of Context. Each plan is examined, since the
    rules that leave it out know our own tools only, and few new ones are made.

    Raises ValueError where a switch or a model is none, ConfigurationError where a named model has no key.
    """

    def __init__(
        self, model: str | BaseChatModel | None = None, settings: Settings | None = None, **switches: Any
    ) -> None:
        own: dict[str, Any] = {"prospective_reflection": True, "plan_intra": False, "max_replans": 2}
        own["answer_intra"] = True  # or its planner would answer itself
        if isinstance(model, str):
            own["model"] = model
        self.model, self.settings = model, settings or Settings()
        self.context = bounded(Context(**{**own, **switches}), self.settings)
        self._live: dict[int, LiveTransport] = {}
        """The last model's transport, which knows how that model can be called."""
        if isinstance(model, str):
            Models(self.settings).verify([model])
        elif model is not None:
            ChatObjects.of(model, {}, ())

    def turn(
        self,
        tools: Iterable[Any],
        chat: BaseChatModel | None = None,
        *,
        transport: Transport | None = None,
        runtime: Runtime[Any] | None = None,
    ) -> Turn:
        """The turn for a worker with these tools, whose own model is `chat`, or asked over `transport`."""
        settings, context, asked = self.settings, self.context, self.model or chat
        if asked is not None and not isinstance(asked, str):
            given = ChatObjects.of(asked, {}, ())
            settings = given.settings(settings)
            transport = live = self._live.get(id(asked)) or LiveTransport(settings, chats=given.by_name)
            self._live = {id(asked): live}
            context = context.model_copy(update=given.by_field)
        listed = {tool.name: tool for tool in map(outline_of, tools)}
        services = Services(settings, listed, Models(settings, transport), FileStore(Path()), one_worker=True)
        return Turn(services, context, runtime or Runtime())


def outline_of(tool: Any) -> Tool:
    """A tool as those who plan read of it: LangChain's, a dict as providers take it, ours, or a function. It
    cannot be called.

    Raises ValueError where a function cannot be a tool.
    """
    if isinstance(tool, BaseTool):
        tool = convert_to_openai_tool(tool)
    if not isinstance(tool, dict):
        return tool if isinstance(tool, Tool) else make_tool(tool)
    schema = tool.get("function", tool)
    name = str(schema.get("name") or schema.get("type"))

    class Arguments(BaseModel):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return dict(schema.get("parameters") or {})

    async def run(*_: Any, **__: Any) -> str:
        raise NotImplementedError(f"the graph must not call {name}: only its worker does")

    return Tool(name, str(schema.get("description") or name), Arguments, run, effect="write")
