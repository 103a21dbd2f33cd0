"""LangChain's deep agent with its own file tools, as a method.

Departures: a model call is a structured reply through the evaluation's transport, as in all methods, so that
its cost is counted and limited alike. The tools read plain text, so the agent gets the text of each document.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from forethought.evals.baselines.bench import Bench, make_bench
from forethought.evals.prompts.baseline_replies import DeepTurn
from forethought.evals.types import Attempt, InfrastructureError, Method, TrialContext
from forethought.extras import install_command
from forethought.models.types import Message, reply_spec
from forethought.trajectories.types import Trajectory, TrajectoryStep

_RULES = """
# Reply
A JSON object with `text` and `calls`. To call tools, list them in `calls`: `tool`, and `arguments` as a text
with a JSON object. Calls of one reply run side by side. Without calls, `text` is your final answer.

# Tools
"""
_SYSTEM = "Answer the question from the files below /. End with the answer alone, in the form asked for."
_PLAIN = {"txt", "md", "csv", "json", "html", "log", "eml"}
"""Endings that its tools take for plain text."""


class DeepAgents(Method):
    """One run of `create_deep_agent` over a folder with the texts of all files."""

    name = "deepagents"
    about = "LangChain's deep agent with its own file tools over the texts of the files (package deepagents)"

    async def run(self, trial: TrialContext) -> Attempt:
        """See Method."""
        try:
            from deepagents import create_deep_agent
            from deepagents.backends import FilesystemBackend
            from langchain.agents.middleware import ToolCallLimitMiddleware
        except ImportError as error:
            raise InfrastructureError(f"deepagents is missing: {install_command('deepagents')}") from error
        started, bench, sample = time.monotonic(), await make_bench(trial), trial.sample
        form = f"\n\nThe answer's form: {sample.answer_format}" if sample.answer_format else ""
        asked = {"role": "user", "content": sample.task + form}
        with tempfile.TemporaryDirectory() as place:
            await asyncio.to_thread(_write_texts, bench, Path(place))
            agent = create_deep_agent(
                BenchChat(bench=bench),
                system_prompt=_SYSTEM,
                middleware=[ToolCallLimitMiddleware(run_limit=trial.budget.max_steps)],
                backend=FilesystemBackend(root_dir=place, virtual_mode=True),
            )
            config: Any = {"recursion_limit": 10_000}
            state = await agent.ainvoke({"messages": [asked]}, config)
        messages: list[BaseMessage] = state["messages"]
        answer = messages[-1].text.strip()
        run = Trajectory(
            id=trial.thread,
            task=sample.task,
            files=tuple(file.name for file in sample.files),
            source="forethought-baseline",
            steps=tuple(_steps(messages)),
            answer=answer,
        )
        return Attempt(
            answer=answer,
            status="answered" if answer else "failed",
            trajectory=run,
            usage=bench.meter.usage,
            seconds=time.monotonic() - started,
            steps=sum(isinstance(message, ToolMessage) for message in messages),
        )


class BenchChat(BaseChatModel):
    """A chat model that asks through a trial's transport, tool calls as a structured reply."""

    bench: Any
    tools: tuple[dict[str, Any], ...] = ()

    @property
    def _llm_type(self) -> str:
        return "forethought-bench"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> BaseChatModel:
        """The model with these tools on offer."""
        return self.model_copy(
            update={"tools": tuple(convert_to_openai_tool(tool)["function"] for tool in tools)}
        )

    def _generate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        raise NotImplementedError("it is asked asynchronously only")

    async def _agenerate(self, messages: list[BaseMessage], *rest: Any, **options: Any) -> ChatResult:
        """Raises ModelError and BudgetSpent."""
        bench: Bench = self.bench
        offered = {tool["name"] for tool in self.tools}
        listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in self.tools)

        def check(turn: DeepTurn) -> str | None:
            unknown = [call.tool for call in turn.calls if call.tool not in offered]
            return f"there is no tool {unknown[0]!r}" if unknown else None

        said = await bench.services.models.ask(
            role="baseline",
            model=bench.trial.model,
            messages=[Message("system", f"{_RULES.strip()}\n{listed}"), *map(_message, messages)],
            reply=reply_spec(DeepTurn),
            check=check,
        )
        number = len(messages)
        calls: Any = [
            {
                "name": call.tool,
                "args": json.loads(call.arguments),
                "id": f"call-{number}-{n}",
                "type": "tool_call",
            }
            for n, call in enumerate(said.reply.calls)
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said.reply.text, tool_calls=calls))])


def _message(message: BaseMessage) -> Message:
    if isinstance(message, SystemMessage):
        return Message("system", message.text)
    if isinstance(message, ToolMessage):
        return Message("user", f"Result of {message.name} ({message.tool_call_id}):\n{message.text}")
    if isinstance(message, AIMessage):
        calls = [f"{call['name']} ({call['id']}): {json.dumps(call['args'])}" for call in message.tool_calls]
        return Message("assistant", "\n".join(filter(None, [message.text, *calls])))
    return Message("user", message.text)


def _write_texts(bench: Bench, place: Path) -> None:
    """Write the text of each file under its name, with the ending .txt if it is a document."""
    folders = bench.access["folders"]
    for entry in folders.entries():
        path = place / (entry.name if entry.kind in _PLAIN else f"{entry.name}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(folders.text(entry.name), "utf-8")


def _steps(messages: Sequence[BaseMessage]) -> list[TrajectoryStep]:
    results = {message.tool_call_id: message.text for message in messages if isinstance(message, ToolMessage)}
    made = [
        (f"{call['name']}({json.dumps(call['args'], ensure_ascii=False)})", results.get(call["id"] or "", ""))
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]
    return [
        TrajectoryStep(number=n, action=action, observation=seen) for n, (action, seen) in enumerate(made, 1)
    ]
