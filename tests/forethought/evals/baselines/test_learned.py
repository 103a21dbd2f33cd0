"""What ExpeL and inter-task error reflection learn from training samples, and what they do with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from forethought.evals.registry import method
from forethought.evals.types import Attempt, InfrastructureError, TrialContext
from tests.support.evaluating import Bureau, HouseEpisode, Replies, done
from tests.support.household import Household
from tests.support.model_server import Answer, ModelServer, SeenRequest

TASKS = {
    "t1": "How tall is the tower of Ulm?",
    "t2": "How tall is the tower of Bern?",
    "t3": "Who was first?",
}
Serve = Callable[..., ModelServer]


async def measured(attempt: Attempt) -> bool:
    """The oracle: a measured answer is right."""
    return attempt.answer == "measured"


def guesses(seen: SeenRequest) -> Answer:
    """An actor that guesses at first, and measures once it is told to; it never knows who was first."""
    message = "measure it" in seen.last and "first" not in seen.last.split("</task>")[0]
    return done("measured" if message else "a guess")


def labels(seen: SeenRequest) -> Answer:
    """Labels each step that was asked for as a guess."""
    numbers = sorted({int(text) for text in re.findall(r"^Step (\d+)$", seen.last, re.MULTILINE)})
    found = [{"error_type": "guessing", "critique": "Nothing was measured."}]
    return {"steps": [{"step": number, "errors": found} for number in numbers]}


def teacher(**others: Any) -> Replies:
    """All roles of a training."""
    return Replies(
        {
            "ReactMove": guesses,
            "SelfReflection": [{"reflection": "measure it"}],
            "InsightOperations": [
                {"operations": [{"operation": "ADD", "number": None, "text": "Measure before you answer."}]},
                {"operations": [{"operation": "AGREE", "number": 1, "text": ""}]},
            ],
            **others,
        }
    )


def workshops(bureau: Bureau, server: ModelServer) -> list[TrialContext]:
    """A workshop for each training sample."""
    return [bureau.workshop(server, task=task, sample=name, outcome=measured) for name, task in TASKS.items()]


async def test_expel_draws_insights_and_keeps_what_was_solved(bureau: Bureau, model_server: Serve) -> None:
    server = model_server(teacher())
    learned = await method("expel").train(workshops(bureau, server))
    assert json.loads(json.dumps(learned)) == learned
    # t1 and t2: a failure and a success each; t3 fails three times, which alone teaches nothing.
    assert (learned["trials"], learned["solved"], learned["problems"]) == (7, 2, [])
    assert learned["insights"] == [{"text": "Measure before you answer.", "importance": 2 + 2}]
    drawn = [seen for seen in server.requests if seen.reply_name == "InsightOperations"]
    assert len(drawn) == 3, "two pairs, and the two successes together"
    assert 'outcome="failure"' in drawn[0].last
    assert 'outcome="failure"' not in drawn[2].last
    assert [item["sample"] for item in learned["examples"]] == ["t1", "t2"]


async def test_expel_shows_what_it_learned(bureau: Bureau) -> None:
    learned: Mapping[str, Any] = {
        "insights": [{"text": "minor", "importance": 1}, {"text": "major", "importance": 5}],
        "examples": [
            {"sample": "a", "task": "Who painted the portrait?", "text": "asked the painter"},
            {"sample": "b", "task": "How tall is the tower of Ulm?", "text": "measured the tower"},
            {"sample": "s1", "task": "How tall is the tower of Bern?", "text": "its own trial"},
            {"sample": "c", "task": "Which river is longest?", "text": "followed the river"},
        ],
    }
    out = await bureau.work(
        method("expel"), Replies({"ReactMove": [done("x")]}), learned=learned, task=TASKS["t2"]
    )
    (seen,) = out.asked("ReactMove")
    assert seen.last.index("major") < seen.last.index("minor") < seen.last.index("measured the tower")
    assert "its own trial" not in seen.last
    assert "followed the river" not in seen.last, "two examples at most"


async def test_inter_task_reflects_on_error_types_across_tasks(bureau: Bureau, model_server: Serve) -> None:
    def reflect(seen: SeenRequest) -> Answer:
        cites = re.findall(r'<case trajectory="([^"]+)"', seen.last)
        return {"cites": cites, "reflection": "Guesses recur: look before you answer."}

    server = model_server(
        teacher(
            TrialReflection=[{"comparison": "", "reflection": "It guessed."}],
            TaxonomyGrowth=[
                {"rationale": "", "new_types": [{"name": "guessing", "definition": "A step guesses."}]},
                {"rationale": "", "new_types": []},
            ],
            StepLabels=labels,
            TypeReflection=reflect,
        )
    )
    learned = await method("inter-task").train(workshops(bureau, server))
    assert json.loads(json.dumps(learned)) == learned
    assert learned["problems"] == []
    (error,) = learned["errors"]
    assert (error["name"], error["text"]) == ("guessing", "Guesses recur: look before you answer.")
    assert error["trials"] >= 3
    assert "MergedReflection" not in server.names, "reflections on single trials are not merged"
    out = await bureau.work(method("inter-task"), Replies({"ReactMove": [done("x")]}), learned=learned)
    message = out.asked("ReactMove")[0].last
    assert '<reflection error_type="guessing">\nGuesses recur' in message


@pytest.mark.parametrize("name", ["expel", "inter-task"])
async def test_samples_that_cannot_be_tried_are_reported(
    bureau: Bureau, model_server: Serve, name: str
) -> None:
    server, house = model_server(teacher(ReactMove=[done("measured")])), Household(1)

    class Broken(HouseEpisode):
        async def reset(self) -> Any:
            raise OSError("no room")

    bad = bureau.workshop(server, episode=Broken(house), sample="bad", outcome=measured)
    learned = await method(name).train([workshops(bureau, server)[0], bad])
    assert any("bad: " in problem and "no room" in problem for problem in learned["problems"])
    with pytest.raises(InfrastructureError, match="no room"):
        await method(name).train([bad])
    with pytest.raises(InfrastructureError, match="cannot say whether"):
        await method(name).train([bureau.workshop(server)])
