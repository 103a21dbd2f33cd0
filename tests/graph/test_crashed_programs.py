"""Killed while a program of the python tool runs, what its calls had cost is paid once and booked once."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from forethought.graph.agent import build_agent
from forethought.models.types import ModelRequest
from forethought.settings import Settings
from forethought.tools.base import ToolEnv, make_tool
from tests.support.crashes import Answers, Seen, Witness
from tests.support.paying import to_the_end
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

Json = dict[str, Any]
PROGRAM = "print(summarise('one'))\nprint(summarise('two'))"


def reply(request: ModelRequest) -> Json:
    """One program that has two texts summarised."""
    if request.reply == "DocumentAnswer":
        return {"brief": "it is brief"}
    replies = {"Plan": plan(sub("code")), "PlanDiagnosis": diagnosis(), "AnswerDraft": answer("done")}
    if request.reply in replies:
        return replies[request.reply]
    done = "is brief" in request.messages[1].text
    return finish("done") if done else call(tool="python", code=PROGRAM, finishes=False)


def asked(request: ModelRequest) -> str:
    """A request by its kind, and of an inspection by its text."""
    found = re.search(r"text of (\w+)", request.messages[1].text)
    return f"{request.reply} {found[1] if found and request.reply == 'DocumentAnswer' else ''}"


async def summarise(env: ToolEnv, key: str) -> str:
    """Summarise a text.

    Args:
        key: Which.
    """
    assert env.inspect is not None
    await env.inspect("What is it?", f"text of {key}", key)
    return f"{key} is brief"


async def test_a_programs_kept_calls_are_booked_once_whenever_it_is_killed(
    settings: Callable[..., Settings],
) -> None:
    def graph(saver: Any, seen: Seen) -> Any:
        transport = Answers(reply, asked, seen)
        tools = [make_tool(summarise)]
        return build_agent(tools=tools, settings=settings(), checkpointer=saver, transport=transport)

    whole = Seen()
    witness = Witness(whole)
    paid = (await to_the_end(graph(witness, whole), whole))[0]["usage"]
    assert (paid["inspector"]["calls"], whole.asked.count("DocumentAnswer one")) == (2, 1)

    between = [moment for moment in witness.moments if _has_summarised(moment.journal)]
    assert len(between) > 2
    for moment in between:
        seen = copy.deepcopy(moment.seen)
        state, _ = await to_the_end(graph(moment.saver, seen), seen)
        assert (state["status"], len(state["trajectory"])) == ("answered", 2)
        assert _bill(state) == _bill({"usage": paid}), "paid once, booked once"


def _has_summarised(journal: list[Json]) -> bool:
    """Whether a call of the program is known, and the program itself is not."""
    done = [entry["key"] for entry in journal if entry["key"].endswith("outcome")]
    return any(" summarise " in key for key in done) and not any(" python " in key for key in done)


def _bill(state: Json) -> dict[str, tuple[int, int]]:
    return {role: (used["calls"], used["input_tokens"]) for role, used in state["usage"].items()}
