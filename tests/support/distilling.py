"""Driving the compiled distiller in a test: runs of tasks with known outcomes, and a scripted model.

    out = await distil(runs("t", "ffs"))
    assert out.state["status"] == "distilled"

The model of a test diagnoses one error a task, named by `types`, with evidence that stands in the runs,
merges entries whose name is in the set already, and writes patterns in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.graph.distiller import build_distiller
from forethought.nodes.distiller.take import TaskRuns, compared_runs, run_record
from forethought.settings import Settings
from forethought.state.distiller import DistillerContext
from forethought.trajectories.types import Loaded, Outcome, Reference, Trajectory, TrajectoryStep
from tests.support.graph_run import GraphRun
from tests.support.model_server import Answer, ModelServer, SeenRequest

Json = dict[str, Any]
_KINDS: dict[str, Outcome] = {"f": "failure", "s": "success", "u": "unknown"}


def question(name: str) -> str:
    """The task called `name`."""
    return f"Which of the seven bridges of {name} was opened to traffic first?"


def run_of(name: str, number: int, outcome: Outcome) -> Loaded:
    """One run of the task called `name`."""
    plan = (
        f"I will look up the bridges of {name} and take the one that the page names at its very top"
        if outcome == "failure"
        else f"I will note the opening year of each bridge of {name} and compare all of the years"
    )
    steps = (
        TrajectoryStep(
            number=1,
            planning=f"{plan}, attempt {number}.",
            action=f"search[{name} bridges]",
            observation=f"{name} has seven bridges; the Iron Bridge is the best known of them all today.",
        ),
        TrajectoryStep(number=2, planning="Now I answer.", action="finish[Iron Bridge]"),
    )
    answer = "Iron Bridge" if outcome == "failure" else "Old Bridge"
    return Loaded(
        trajectory=Trajectory(
            id=f"{name}-{number}", task=question(name), source="test", steps=steps, answer=answer
        ),
        reference=Reference(outcome=outcome, gold=("Old Bridge",)),
    )


def runs(name: str, outcomes: str) -> list[Loaded]:
    """Runs of one task: f failed, s succeeded, u of unknown outcome."""
    return [run_of(name, number, _KINDS[letter]) for number, letter in enumerate(outcomes, 1)]


def task_runs(outcomes: str, name: str = "Ulm", answer: str | None = None) -> TaskRuns:
    """Labelled runs of one task; `answer` replaces theirs."""
    loaded = compared_runs(runs(name, outcomes), len(outcomes))
    changed = {} if answer is None else {"answer": answer}
    trajectories = {label: run.trajectory.model_copy(update=changed) for label, run in loaded.items()}
    records = [run_record(label, run, "", "") for label, run in loaded.items()]
    return TaskRuns("t1", question(name), tuple(records), trajectories)


def shown(seen: SeenRequest) -> str:
    """What a request shows; a reply that is sent back comes after it."""
    return seen.messages[1][1]


def named(seen: SeenRequest) -> str:
    """The first task that a request is about."""
    found = re.search(r"bridges of (\w+)", shown(seen))
    return found[1] if found else ""


def labels(seen: SeenRequest, letter: str) -> list[str]:
    """Labels of the runs that are shown with an outcome, in their order."""
    return re.findall(rf'<run label="({letter}\d+)"', shown(seen))


@dataclass
class Distiller:
    """The model of a test."""

    types: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By task: the types of error that are found in it; one 'first_hit' where nothing is said."""
    diagnose: Callable[[SeenRequest], Answer | None] = lambda seen: None
    """Replies that are given instead of the usual ones, where they are not None."""
    aggregate: Callable[[SeenRequest], Answer | None] = lambda seen: None
    write: Callable[[SeenRequest], Answer | None] = lambda seen: None

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        other = {
            "ComparativeDiagnosis": (self.diagnose, self.diagnosis),
            "Aggregation": (self.aggregate, self.aggregation),
            "PatternSet": (self.write, self.patterns),
        }[seen.reply_name]
        reply = other[0](seen)
        return other[1](seen) if reply is None else reply

    def diagnosis(self, seen: SeenRequest) -> Json:
        """The errors of the task, each with evidence from the first two failed runs and a successful one."""
        name = named(seen)
        kinds = self.types.get(name, ("first_hit",))
        return {
            "comparison": f"The failed runs of {name} took the first hit.",
            "errors": [finding(kind, name, labels(seen, "F")[:2]) for kind in kinds],
        }

    def aggregation(self, seen: SeenRequest) -> Json:
        """Merged into the error of the same name, else new."""
        kind = str(re.findall(r"^type: (\w+)$", shown(seen), re.MULTILINE)[-1])
        known = re.findall(r'<planning_error name="(\w+)"', shown(seen))
        decision = "merge" if kind in known else "new"
        return aggregation(decision, kind)

    def patterns(self, seen: SeenRequest) -> Json:
        """Every failed and every successful run retold."""
        cases = re.split(r"^## Case (\d+)$", shown(seen), flags=re.MULTILINE)[1:]
        found: dict[str, list[Json]] = {"F": [], "S": []}
        for number, text in zip(cases[::2], cases[1::2], strict=True):
            for label in re.findall(r'<run label="([FS]\d+)"', text):
                found[label[0]].append(pattern(int(number), label))
        return {"failures": found["F"], "successes": found["S"]}


def finding(kind: str, name: str, failed: Sequence[str] = ("F1",)) -> Json:
    """A DiagnosedError whose evidence stands in the runs."""
    return {
        "failure_evidence": [
            {"run": label, "step": 1, "quote": f"look up the bridges of {name} and take the one"}
            for label in failed
        ],
        "impact": "Another candidate was right.",
        "success_evidence": [{"run": "S1", "step": 1, "quote": f"opening year of each bridge of {name}"}],
        "avoided": "The plan compared all candidates.",
        "description": f"The plan settles on a first hit ({kind}).",
        "error_type": kind,
    }


def aggregation(decision: str, name: str, description: str = "") -> Json:
    """An Aggregation."""
    return {
        "reasoning": "the same check would do",
        "decision": decision,
        "name": name,
        "description": description or f"Plans that show {name} never test what else could fit.",
    }


def pattern(case: int, run: str, text: str = "") -> Json:
    """A WrittenPattern."""
    told = "It settled early and was wrong" if run[0] == "F" else "It weighed every candidate and was right"
    return {"case": case, "run": run, "text": text or f"{told}, as {run} of finding {case} shows."}


class Distilled(GraphRun):
    """A distiller under test."""

    async def waiting(self) -> list[Json]:
        """Payloads of the interrupts that wait."""
        return [item.value for item in (await self.graph.aget_state(self.config)).interrupts]

    async def reply(self, value: Any) -> Any:
        """Answer the one interrupt that waits."""
        return await self.go(Command(resume=value))


Distil = Callable[..., Any]


@pytest.fixture
def distil(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Distil:
    """Run the compiled distiller on runs; `go=False` only builds it."""

    async def start(
        loaded: Sequence[Loaded] = (),
        model: Callable[[SeenRequest], Answer] | None = None,
        *,
        exclude: Sequence[str] = (),
        files: Mapping[str, str] | None = None,
        go: bool = True,
        **choices: Any,
    ) -> Distilled:
        server = model_server(model or Distiller())
        graph = build_distiller(settings(server, request_retries=0), InMemorySaver())
        context = DistillerContext.model_validate({"model": "openai:scripted", **choices})
        out = Distilled(graph, server, context)
        value = {
            "trajectories": [item.model_dump(mode="json") for item in loaded],
            "exclude": list(exclude),
            "files": dict(files or {}),
        }
        return await out.go(value) if go else out

    return start
