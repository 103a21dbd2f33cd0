"""An episode's tools as an agent's: counted, one at a time, with the world's last word kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from forethought.evals.toolset import (
    ACT,
    OVER,
    SHOWN_ACTIONS,
    Toolset,
    make_toolset,
    observation_text,
    opening,
)
from forethought.evals.types import Budget, InfrastructureError, ToolSpec
from forethought.models.schema import strict_schema
from forethought.rollouts.types import EnvironmentReply
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.call import call_tool
from forethought.tools.registry import describe
from tests.support.evaluating import HouseEpisode, SafeEpisode
from tests.support.household import Household

MakeSettings = Callable[..., Settings]


@pytest.fixture
def env(settings: MakeSettings) -> ToolEnv:
    """What tools are called with."""
    return ToolEnv(settings=settings())


def lookup(key: str) -> str:
    """Look something up.

    Args:
        key: What.
    """
    return f"value of {key}"


async def called(tools: Toolset, env: ToolEnv, name: str, **arguments: Any) -> Observation:
    """One call as agents make it."""
    return await call_tool(tools[name], arguments, env)


async def test_tools_of_an_episode_carry_calls_to_it(settings: MakeSettings, env: ToolEnv) -> None:
    safe = SafeEpisode()
    tools = make_toolset(settings(), Budget(max_steps=9), safe)
    assert list(tools) == ["read_digit", "open_safe"]
    assert [tools[name].effect for name in tools] == ["read", "write"]
    await tools.begin()
    assert (await called(tools, env, "read_digit", which="third")).text == "It is 7."
    wrong = await called(tools, env, "read_digit", which="fourth")
    assert (wrong.cause, tools.counter.used) == ("arguments", 1), "what does not fit is not carried out"
    assert tools.reward == 0
    opened = await called(tools, env, "open_safe", code="407")
    assert opened.text == f"It opens.\n\n{OVER}"
    assert (tools.done, tools.reward, safe.called) == (True, 1, ["read_digit", "open_safe"])
    after = await called(tools, env, "read_digit", which="first")
    assert (after.ok, after.cause, after.text) == (False, "limit", OVER)
    assert (tools.counter.used, len(safe.called)) == (2, 2)
    assert await tools.finish("done") == 1
    assert safe.last_word is None, "a world that is over is not ended again"
    await tools.begin()
    assert not tools.done
    assert await tools.finish("I give up") == 0
    assert safe.last_word == "I give up"


async def test_text_actions_are_one_tool_that_shows_what_is_possible(
    settings: MakeSettings, env: ToolEnv
) -> None:
    episode = HouseEpisode(Household(1))
    tools = make_toolset(settings(), Budget(), episode)
    assert list(tools) == [ACT]
    assert "go to shelf" in tools[ACT].description
    assert strict_schema(tools[ACT].arguments)["required"] == ["action"]
    first = await tools.begin()
    assert first is not None
    message = opening("Put it away.", first)
    assert message.startswith("Put it away.\n\nWhat the environment shows at the beginning:\n<observation>")
    assert "- go to shelf" in message
    came = await called(tools, env, ACT, action=" go to shelf ")
    assert came.ok
    assert "Possible actions now:\n- go to counter" in came.text
    assert episode.steps == ["go to shelf"]
    assert opening("A task.", None) == "A task."


def test_an_observation_is_never_empty_and_lists_a_bounded_number_of_actions() -> None:
    many = tuple(f"click item {n}\n" for n in range(SHOWN_ACTIONS + 25))
    text = observation_text(EnvironmentReply(" ", many))
    assert text.startswith("(nothing is shown)")
    assert text.count("\n- ") == SHOWN_ACTIONS
    assert text.endswith("[and 25 more]")
    assert "Possible" not in observation_text(EnvironmentReply("won", many, done=True))


async def test_calls_are_counted_for_all_tries_together(settings: MakeSettings, env: ToolEnv) -> None:
    safe = SafeEpisode()
    tools = make_toolset(settings(), Budget(max_steps=2), safe, [make_tool(lookup)])
    await tools.begin()
    assert (await called(tools, env, "lookup", key="a")).ok
    await tools.begin()
    assert (await called(tools, env, "read_digit", which="first")).ok
    for name, arguments in (("lookup", {"key": "b"}), ("read_digit", {"which": "second"})):
        spent = await called(tools, env, name, **arguments)
        assert (spent.ok, spent.cause) == (False, "limit")
        assert "budget of 2 calls" in spent.text
    assert (tools.counter.used, safe.called) == (2, ["read_digit"])


async def test_actions_are_carried_out_one_at_a_time(settings: MakeSettings, env: ToolEnv) -> None:
    class Slow(HouseEpisode):
        inside = widest = 0

        async def step(self, action: str) -> EnvironmentReply:
            self.inside += 1
            self.widest = max(self.widest, self.inside)
            await asyncio.sleep(0.001)
            self.inside -= 1
            return await super().step(action)

    episode = Slow(Household(1))
    tools = make_toolset(settings(), Budget(), episode)
    await tools.begin()
    await asyncio.gather(*(called(tools, env, ACT, action="go to desk") for _ in range(4)))
    assert (episode.widest, len(episode.steps)) == (1, 4)


async def test_a_world_that_breaks_is_told_apart_from_a_failed_action(
    settings: MakeSettings, env: ToolEnv
) -> None:
    class Broken(SafeEpisode):
        async def step(self, action: str) -> EnvironmentReply:
            self.called.append(action)
            raise OSError("no disk")

    safe = Broken()
    tools = make_toolset(settings(), Budget(), safe)
    await tools.begin()
    assert not (await called(tools, env, "read_digit", which="first")).ok
    assert tools.broken is not None
    assert "no disk" in str(tools.broken)
    await called(tools, env, "read_digit", which="second")
    assert len(safe.called) == 1, "a broken world is not asked again"


async def test_a_benchmarks_own_tool_may_say_that_the_means_failed(
    settings: MakeSettings, env: ToolEnv
) -> None:
    def ask_server(key: str) -> str:
        """Ask the server."""
        raise InfrastructureError("the server is down")

    def fail(key: str) -> str:
        """Fail."""
        raise KeyError(key)

    tools = make_toolset(settings(), Budget(), None, [make_tool(ask_server), make_tool(fail)])
    assert not (await called(tools, env, "fail", key="a")).ok
    assert tools.broken is None, "a tool that fails is part of the task"
    assert not (await called(tools, env, "ask_server", key="a")).ok
    assert str(tools.broken) == "the server is down"
    assert await tools.begin() is None
    assert await tools.finish("x") is None


async def test_a_programs_own_calls_are_part_of_its_one_call(settings: MakeSettings, env: ToolEnv) -> None:
    tools = make_toolset(settings(), Budget(max_steps=3), None, [make_tool(lookup)], ["python"])
    assert "with keyword arguments: lookup. Each" in describe(tools)

    async def call(name: str, arguments: dict[str, Any]) -> Observation:
        return await call_tool(tools[name], arguments, env)

    within = replace(env, call=call, offered={"lookup": tools["lookup"]})
    code = "print(lookup('a'))\nprint(lookup('b'))\nprint(lookup('c'))\nprint(lookup('d'))"
    came = await call_tool(tools["python"], {"code": code}, within)
    assert "value of d" in came.text
    assert tools.counter.used == 1
    assert (await called(tools, env, "lookup", key="e")).ok
    assert tools.counter.used == 2


def test_names_that_clash_are_refused(settings: MakeSettings) -> None:
    class Named(SafeEpisode):
        names: tuple[str, ...] = ()

        @property
        def tools(self) -> tuple[ToolSpec, ...]:
            return tuple(ToolSpec(name, "A tool.", {"type": "object"}) for name in self.names)

    for names in (("finish",), ("a", "a"), ("lookup",)):
        episode = Named()
        episode.names = names
        with pytest.raises(ValueError, match=names[0]):
            make_toolset(settings(), Budget(), episode, [make_tool(lookup)])
    with pytest.raises(ValueError, match="no built-in tool teleport"):
        make_toolset(settings(), Budget(), builtin=["teleport"])
    tools = make_toolset(settings(tools="json"), Budget(), builtin=["python", "read_file"])
    assert list(tools) == ["read_file", "python"], "the operator's own tools are not offered"


@pytest.mark.parametrize(
    ("causes", "tried"),
    [(["transport", "transport"], False), (["transport", ""], True), (["empty"], True), ([], True)],
    ids=["fails", "fails once", "finds nothing", "unused"],
)
async def test_a_search_that_never_answers_is_no_failure_of_the_agent(
    env: ToolEnv, causes: list[str], tried: bool
) -> None:
    left = list(causes)

    def web_search(query: str) -> str:
        """Search.

        Args:
            query: What.
        """
        if cause := left.pop(0):
            raise ToolError(f"the search failed ({cause})", cause=cause)
        return "found"

    tools = Toolset(None, {"web_search": make_tool(web_search)}, Budget())
    for cause in causes:
        assert (await called(tools, env, "web_search", query="q")).cause == cause
    if tried:
        tools.check_served()
    else:
        with pytest.raises(InfrastructureError, match="the search failed"):
            tools.check_served()
