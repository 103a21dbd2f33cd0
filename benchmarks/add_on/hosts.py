"""The agents of other frameworks, with the add-on and without it: each answers a task with its tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from forethought.tools.base import Tool, ToolError

PROMPT = "You look prices up. Answer with the number of euros."
LIMIT = 12
"""Actions of smolagents."""


async def create_agent(url: str, task: str, tools: Sequence[Tool], with_it: bool) -> str:
    """LangChain's agent."""
    from langchain.agents import create_agent

    return await _langchain(create_agent, url, task, tools, with_it)


async def deepagents(url: str, task: str, tools: Sequence[Tool], with_it: bool) -> str:
    """LangChain's deep agent."""
    from deepagents import create_deep_agent

    return await _langchain(create_deep_agent, url, task, tools, with_it)


async def smolagents(url: str, task: str, tools: Sequence[Tool], with_it: bool) -> str:
    """smolagents' ToolCallingAgent, which plans in both cases."""
    import asyncio

    from smolagents import LogLevel, OpenAIModel, ToolCallingAgent

    from forethought.integrations.smolagents import PlanReflection

    model = OpenAIModel("scripted", api_base=url, api_key="none")
    hooks = PlanReflection().hooks if with_it else {"planning_interval": 6}
    agent = ToolCallingAgent(
        [_for_smolagents(tool) for tool in tools],
        model,
        verbosity_level=LogLevel.OFF,
        max_steps=LIMIT,
        **hooks,
    )
    return str(await asyncio.to_thread(agent.run, task))


HOSTS: tuple[Callable[..., Any], ...] = (create_agent, deepagents, smolagents)


async def _langchain(make: Any, url: str, task: str, tools: Sequence[Tool], with_it: bool) -> str:
    from langchain_openai import ChatOpenAI

    from forethought.integrations.langchain import ProspectiveReflection

    model = ChatOpenAI(model="scripted", base_url=url, api_key="none", use_responses_api=False)
    middleware = [ProspectiveReflection()] if with_it else []
    agent = make(model, [_for_langchain(tool) for tool in tools], system_prompt=PROMPT, middleware=middleware)
    state = await agent.ainvoke({"messages": [{"role": "user", "content": task}]})
    return str(state["messages"][-1].text)


def _for_langchain(tool: Tool) -> Any:
    from langchain_core.tools import StructuredTool, ToolException

    async def run(**arguments: Any) -> Any:
        try:
            return await tool.run(None, **arguments)
        except ToolError as error:
            raise ToolException(error.message) from error

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments,
        coroutine=run,
        handle_tool_error=True,
    )


def _for_smolagents(tool: Tool) -> Any:
    import asyncio

    from smolagents import Tool as Base

    class Wrapped(Base):
        name, description, output_type = tool.name, tool.description, "string"
        inputs = {  # noqa: RUF012
            key: {"type": "string", "description": entry.get("description", key)}
            for key, entry in tool.arguments.model_json_schema()["properties"].items()
        }
        skip_forward_signature_validation = True

        def forward(self, **arguments: Any) -> Any:
            return asyncio.run(tool.run(None, **arguments))  # type: ignore[arg-type]

    return Wrapped()
