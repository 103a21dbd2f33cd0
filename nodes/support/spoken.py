"""What a node says in the run's `messages` stream before it returns: the answer's tokens, calls that begin.

LangGraph's `messages` stream takes its messages from LangChain's callbacks, as a chat model makes them. The
roles' own calls are kept out of it (`models.methods`), since they write JSON; here the callbacks are made for
what a person may see, and for the handlers of streams alone: a tracer or a counter of calls hears nothing.
"""

from __future__ import annotations

from typing import Any, Self

from langchain_core.callbacks.manager import AsyncCallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables.config import get_async_callback_manager_for_config
from langgraph.config import get_config


def stream_callbacks() -> AsyncCallbackManager | None:
    """The running node's callbacks of streams; None where nobody streams messages."""
    try:
        manager = get_async_callback_manager_for_config(get_config())
    except RuntimeError:  # a review runs in no graph
        return None
    handlers = [each for each in manager.handlers if hasattr(each, "tap_output_aiter")]
    if not handlers:
        return None
    manager = manager.copy()
    manager.handlers = handlers
    return manager


async def show_message(message: AIMessage) -> None:
    """Send a whole message at once; the node returns it with the same id."""
    if callbacks := stream_callbacks():
        (run,) = await callbacks.on_chat_model_start({}, [[]])
        await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))


class SpokenMessage:
    """A message of the agent that is sent while it is written, by the older events and by the newer ones."""

    def __init__(self, run: Any, id: str) -> None:
        self.id, self.text = id, ""
        self._run = run

    @classmethod
    async def begin(cls, callbacks: AsyncCallbackManager, id: str) -> Self:
        """Announce the message `id`."""
        run: Any = (await callbacks.on_chat_model_start({}, [[]]))[0]
        # The protocol's name, and the one by which LangGraph tells that the node's message was streamed.
        await run.on_stream_event({"event": "message-start", "role": "ai", "id": id, "message_id": id})
        await run.on_stream_event(
            {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}}
        )
        return cls(run, id)

    async def continue_to(self, text: str) -> None:
        """Send what `text` adds to what was sent, with which it begins."""
        more = text[len(self.text) :]
        if not more:
            return
        self.text = text
        chunk = ChatGenerationChunk(message=AIMessageChunk(content=more, id=self.id))
        await self._run.on_llm_new_token(more, chunk=chunk)
        delta = {"type": "text-delta", "text": more}
        await self._run.on_stream_event({"event": "content-block-delta", "index": 0, "delta": delta})

    async def end(self) -> None:
        """Say that it is complete, or that no more of it comes."""
        block = {"type": "text", "text": self.text}
        await self._run.on_stream_event({"event": "content-block-finish", "index": 0, "content": block})
        await self._run.on_stream_event({"event": "message-finish"})
        message = AIMessage(self.text, id=self.id)
        await self._run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
