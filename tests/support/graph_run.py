"""An offline graph (distiller, synthesizer) under test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.support.model_server import ModelServer, SeenRequest

Json = dict[str, Any]


@dataclass
class GraphRun:
    """A compiled graph, its thread and everything that was asked."""

    graph: Any
    server: ModelServer
    context: Any
    config: Json = field(default_factory=lambda: {"configurable": {"thread_id": "offline"}})
    state: Json = field(default_factory=dict)

    async def go(self, value: Any, **changes: Any) -> Any:
        """Run: an input, a Command, or None to resume; `changes` replace the context's."""
        self.context = type(self.context).model_validate({**self.context.model_dump(), **changes})
        try:
            await self.graph.ainvoke(value, self.config, context=self.context)
        finally:
            self.state = dict((await self.graph.aget_state(self.config)).values)
        return self

    async def told(self, value: Any) -> list[str]:
        """What the stream says, on a thread of its own: the notes, and of each call who is asked."""
        config = {"configurable": {"thread_id": "told"}}
        events = self.graph.astream(value, config, context=self.context, stream_mode="custom")
        return [event.get("text") or event.get("role") or event["event"] async for event in events]

    def asked(self, kind: str) -> list[SeenRequest]:
        """The requests for one reply type."""
        return [seen for seen in self.server.requests if seen.reply_name == kind]
