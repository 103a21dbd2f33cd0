"""The search for a run's critical error, without a graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from forethought import Settings, debug
from forethought.trajectories.types import Loaded, Reference
from tests.support.debugging import GOLD, Reader, critical, labels, trajectory
from tests.support.model_server import ModelServer

READER = Reader({2: {"planning": "constraint_ignorance"}})
WORKED = (
    HumanMessage("Find the brass key."),
    AIMessage("I will open drawer number 1.", tool_calls=[{"name": "open", "args": {"n": 1}, "id": "a"}]),
    ToolMessage("drawer 1 holds nothing", tool_call_id="a", artifact=object()),
    AIMessage("I open drawer number 2 instead: no key."),
)
Ask = Callable[..., Any]


@pytest.fixture
def ask(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Ask:
    """Debug with a scripted model."""

    async def start(run: Any, **choices: Any) -> Any:
        return await debug(run, settings=settings(model_server(READER)), **choices)

    return start


@pytest.mark.parametrize(
    "run",
    [
        trajectory(3),
        Loaded(trajectory=trajectory(3), reference=Reference(outcome="failure")),
        trajectory(3).model_dump(),
        [*WORKED],
        {"messages": [*WORKED]},
    ],
    ids=["trajectory", "loaded", "dict", "messages", "a graph's result"],
)
async def test_a_run_comes_in_any_form(ask: Ask, run: Any) -> None:
    found = await ask(run)
    assert (found.status, found.critical["critical_step"]) == ("found", 2)
    assert found.critical["correction_guidance"] == "Look on the shelf first."
    assert found.labels["2"]["planning"]["error_type"] == "constraint_ignorance"
    assert found.usage["calls"] > 1


async def test_a_file_is_named_by_its_path_and_a_run_in_it_by_its_id(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(trajectory(2, id=key).model_dump_json() for key in ("one", "two")))
    assert (await ask(str(path), pick="two")).critical["critical_step"] == 2
    with pytest.raises(ValueError, match="there are 2 runs: choose from one, two"):
        await ask(path)
    with pytest.raises(ValueError, match="no run has the id three: choose from one, two"):
        await ask(path, pick="three")


async def test_a_chat_model_is_asked(settings: Callable[..., Settings]) -> None:
    said = [json.dumps(labels(1, planning="constraint_ignorance")), json.dumps(critical(1))]
    found = await debug(trajectory(1), model=FakeListChatModel(responses=said), settings=settings())
    assert found.critical is not None
    assert found.critical["root_cause"] == "the wrong drawer was chosen"


async def test_a_chat_model_whose_connection_broke_is_asked_again(settings: Callable[..., Settings]) -> None:
    class Breaking(FakeListChatModel):
        asked: int = 0

        def _call(self, *args: Any, **options: Any) -> str:
            self.asked += 1
            if self.asked == 1:
                raise ConnectionResetError("the connection was closed")
            return super()._call(*args, **options)

    said = [json.dumps(labels(1, planning="constraint_ignorance")), json.dumps(critical(1))]
    found = await debug(trajectory(1), model=Breaking(responses=said), settings=settings())
    assert found.status == "found", found.problem


async def test_a_right_answer_needs_no_model(ask: Ask) -> None:
    found = await ask(trajectory(2, answer=GOLD), expect=GOLD)
    assert (found.status, found.critical, found.usage["calls"]) == ("successful", None, 0)


async def test_what_cannot_be_done_is_said(ask: Ask) -> None:
    with pytest.raises(ValueError, match=r"unknown trajectory format.*Known formats: .*messages"):
        await ask({"log": []})
    with pytest.raises(ValueError, match="metod"):
        await ask(trajectory(1), metod="agentdebug")
    found = await ask(trajectory(1), rerun="agentdebug")
    assert (found.status, found.critical) == ("failed", None)
    assert found.problem
