"""Prospective reflection for LangChain's `create_agent` and for deepagents, as middleware.

    agent = create_agent(model, tools, middleware=[ProspectiveReflection()])

All of it happens around the agent's call of its model, where its model and its tools are known. What comes of
it stands in the agent's state, under `prospective_reflection`, and reaches the model at the end of its system
prompt, so that what is before it stays in a provider's cache. The conversation stays as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ExtendedModelResponse, OmitFromInput
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.types import Command

from forethought import own_loop
from forethought.integrations.adviser import Adviser
from forethought.integrations.work import Record, Work
from forethought.integrations.worker_steps import Json, WorkerCall
from forethought.settings import Settings
from forethought.text import cut, one_line

CHANNEL = "prospective_reflection"
WRITE_TODOS = "write_todos"
"""The tool of LangChain's to-do middleware."""
INSTRUCTIONS_CHARS = 6_000
"""Maximum characters of the agent's system prompt shown to the planner and the checks."""


class PlannedState(AgentState[Any]):
    """The agent's state with the record of its present task."""

    prospective_reflection: NotRequired[Annotated[Record, OmitFromInput]]


class ProspectiveReflection(AgentMiddleware[Any, Any, Any]):
    """A plan that is diagnosed and revised before the first tool call, a new one when progress stalls, and a
    check of the answer against what was seen (PreFlect 3.2, 3.3, 4.4).

    Args:
        model: Who plans and checks, as a chat model or provider:name; by default the agent's own model.
        checks_answer: Whether the task's answer is checked, once.
        settings: Address, keys, redaction, and the file of planning errors; by default the environment's.
        switches: Fields of `forethought.Context`, such as max_replans=0 or effort="paper".

    Raises pydantic.ValidationError where a switch is none, ConfigurationError where a named model has no key.
    """

    state_schema = PlannedState

    def __init__(
        self,
        model: str | BaseChatModel | None = None,
        *,
        checks_answer: bool = True,
        settings: Settings | None = None,
        **switches: Any,
    ) -> None:
        super().__init__()
        self.adviser, self.checks_answer = Adviser(model, settings, **switches), checks_answer

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        """As `awrap_model_call`, for `invoke` and `stream`."""

        async def ask(asked: ModelRequest[Any]) -> ModelResponse[Any]:
            return await asyncio.to_thread(handler, asked)

        return own_loop.run(self.awrap_model_call(request, ask))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Any:
        """Plan before the call where a plan is due, and ask once more where the answer does not pass."""
        work = self._work(request)
        if work is None:
            return await handler(request)
        work = await work.planned()
        response = await handler(_with_plan(request, work))
        if self.checks_answer and (answer := _answer(response)):
            work = await work.checked(answer)
            if "rejection" in work.record:
                response = await handler(_with_plan(request, work))
        if work.record == request.state.get(CHANNEL):
            return response
        return ExtendedModelResponse(response, Command(update={CHANNEL: work.record}))

    def _work(self, request: ModelRequest[Any]) -> Work | None:
        """The task as it stands; None before there is one."""
        record: Record = request.state.get(CHANNEL) or Record()  # type: ignore[assignment]
        messages = request.messages
        tasks = [at for at, message in enumerate(messages) if _is_task(message)]
        start = tasks[-1] if tasks else 0
        if tasks and (key := _key(messages[start])) != record.get("task_id"):
            record = Record(task=messages[start].text, task_id=key)
        if not record.get("task"):
            return None
        return Work(
            self.adviser.turn(request.tools, request.model, runtime=request.runtime),
            record["task"],
            record,
            calls=_calls(messages[start:]),
            instructions=cut(request.system_prompt or "", INSTRUCTIONS_CHARS),
            earlier=_earlier(messages[:start]),
        )


def _is_task(message: AnyMessage) -> bool:
    """Whether a person wrote it; a summary of what was cut off counts as none."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def _key(message: AnyMessage) -> str:
    return message.id or one_line(message.text, 200)


def _calls(messages: Sequence[AnyMessage]) -> list[WorkerCall]:
    """The calls that were answered; those of one turn are a wave. The to-do list is no part of the work."""
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    turns = [message for message in messages if isinstance(message, AIMessage) and message.tool_calls]
    return [
        WorkerCall(wave, call["name"], call["args"], came.text, came.status == "error", turn.text)
        for wave, turn in enumerate(turns, 1)
        for call in turn.tool_calls
        if call["name"] != WRITE_TODOS and (came := answers.get(call["id"] or ""))
    ]


def _earlier(messages: Sequence[AnyMessage]) -> list[Json]:
    """The earlier tasks of the conversation, with the last words that followed each."""
    tasks: list[Json] = []
    for message in messages:
        if _is_task(message):
            tasks.append({"task": message.text, "answer": ""})
        elif tasks and isinstance(message, AIMessage) and message.text:
            tasks[-1]["answer"] = message.text
    return tasks


def _with_plan(request: ModelRequest[Any], work: Work) -> ModelRequest[Any]:
    """The request with the plan at the end of the system prompt; as it is without one."""
    if not (note := work.note()):
        return request
    before = request.system_message.content if request.system_message else ""
    content: Any = f"{before}\n\n{note}".strip()
    if isinstance(before, list):
        content = [*before, {"type": "text", "text": f"\n\n{note}"}]
    return request.override(system_message=SystemMessage(content))


def _answer(response: ModelResponse[Any]) -> str:
    """The answer that ends the task; '' where the agent goes on."""
    if response.structured_response is not None:
        return str(response.structured_response)
    last = next((each for each in reversed(response.result) if isinstance(each, AIMessage)), None)
    return last.text if last and not last.tool_calls else ""
