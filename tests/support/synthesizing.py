"""Driving the compiled synthesizer in a test: parcels to be shipped, habits that go wrong, a scripted model.

    out = await synthesize({"Ulm": ("blind_packing",)})
    assert out.state["status"] == "synthesized"

A trial shows the bad habits that a test plants by task; it drops one once its guidance names the remedy. The
model of a test reads the trials that it is shown: it
reflects on the first habit it sees, names those that the taxonomy lacks, labels steps, cites all cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.synthesizer import build_synthesizer
from forethought.settings import Settings
from forethought.state.synthesizer import SynthesizerContext
from forethought.trajectories.tasks import Attempted, CollectTask
from forethought.trajectories.types import Loaded, Reference, Trajectory, TrajectoryStep
from tests.support.graph_run import GraphRun
from tests.support.model_server import Answer, ModelServer, SeenRequest

Json = dict[str, Any]
SIGNS = {
    "blind_packing": "packed without a look at the shelf",
    "wrong_unit": "the scale counts kilograms",
    "unconfirmed_close": "nobody was told",
    "stubborn_retry": "the belt is still stuck",
}
"""By habit: what is observed when it is acted out."""
REMEDIES = {
    "blind_packing": "look at the shelf before packing",
    "wrong_unit": "weigh in the unit of the scale",
    "unconfirmed_close": "confirm before closing",
    "stubborn_retry": "free the belt instead of pushing again",
}
HABITS = tuple(SIGNS)
WEIGHTS = {"Ulm": "37.5", "Bern": "1,240", "Bonn": "88", "Lyon": "512", "Oslo": "64"}
Habits = Mapping[str, Sequence[str]]


def task_of(name: str) -> CollectTask:
    """The task called `name`."""
    text = f"Ship the parcel of {name} and say what it weighs."
    return CollectTask(id=name.lower(), task=text, expected=(f"{WEIGHTS[name]} kg",))


@dataclass
class Trials:
    """An `Attempt` that acts out its habits; what the reflections of a task remedied stays remedied."""

    habits: Habits
    given: dict[str, list[Sequence[str]]] = field(default_factory=dict)
    """By task: the guidance of each trial."""
    judge: Callable[[str, int], str] = lambda task, trial: ""
    """Why a trial cannot be judged ('' if it can); what it raises, the trial raises."""

    async def __call__(self, task: CollectTask, trial: int, guidance: Sequence[str]) -> Attempted:
        """See `Attempt`."""
        told = self.given.setdefault(task.id, [])
        told.append(guidance)
        whole = " ".join(text for texts in told for text in texts)
        name = task.id.capitalize()
        loaded = trial_of(name, trial, [bad for bad in self.habits[name] if REMEDIES[bad] not in whole])
        if unknown := self.judge(task.id, trial):
            loaded = loaded.model_copy(update={"reference": Reference()})
        return Attempted(loaded, reason=unknown)


def trial_of(name: str, number: int, habits: Sequence[str]) -> Loaded:
    """One imported run of the task called `name` that shows `habits`."""
    steps = tuple(
        TrajectoryStep(number=at, planning=f"On to {habit} {number}.", action="go", observation=SIGNS[habit])
        for at, habit in enumerate(habits, 1)
    )
    return Loaded(
        trajectory=Trajectory(
            id=f"{name}-{number}", task=task_of(name).task, source="test", steps=steps, answer="12 kg"
        ),
        reference=Reference(outcome="failure" if habits else "success", gold=task_of(name).expected),
    )


def shown(seen: SeenRequest) -> str:
    """What a request shows; a reply that is sent back comes after it."""
    return seen.messages[1][1]


def steps_of(text: str) -> dict[int, list[str]]:
    """The habits that the shown steps act out, by step."""
    parts = re.split(r"^Step (\d+)$", text, flags=re.MULTILINE)
    found: dict[int, list[str]] = {}
    for number, block in zip(parts[1::2], parts[2::2], strict=True):
        seen = block.split("</trial>")[0]
        found[int(number)] = [habit for habit, sign in SIGNS.items() if sign in seen]
    return {step: habits for step, habits in found.items() if habits}


def taxonomy_of(seen: SeenRequest) -> list[str]:
    """The names of the taxonomy that a request shows."""
    return re.findall(r'<error_type name="(\w+)"', shown(seen))


@dataclass
class Reader:
    """The model of a test."""

    instead: Callable[[SeenRequest], Answer | None] = lambda seen: None
    """Replies that are given instead of the usual ones, where they are not None."""

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        given = self.instead(seen)
        if given is not None:
            return given
        reply: Json = {
            "TrialReflection": self.reflection,
            "TaxonomyGrowth": self.growth,
            "StepLabels": self.labels,
            "TypeReflection": self.across,
            "MergedReflection": self.merged,
        }[seen.reply_name](seen)
        return reply

    def reflection(self, seen: SeenRequest) -> Json:
        """On the first habit that the trial shows."""
        at, (habit, *_) = next(iter(steps_of(shown(seen)).items()), (1, ["wrong_unit"]))
        text = f"Step {at} went wrong ({SIGNS[habit]}). Plan: {REMEDIES[habit]}."
        return {"comparison": "The reference says otherwise.", "reflection": text}

    def growth(self, seen: SeenRequest) -> Json:
        """The habits that the taxonomy lacks."""
        found = [habit for habit, sign in SIGNS.items() if sign in shown(seen)]
        new = [habit for habit in found if habit not in taxonomy_of(seen)]
        return {
            "rationale": f"The trials show {', '.join(found)}.",
            "new_types": [kind(name) for name in new],
        }

    def labels(self, seen: SeenRequest) -> Json:
        """Each step that is asked for."""
        asked = [int(number) for number in shown(seen).split("# The steps to label")[1].split(",")]
        found = steps_of(shown(seen))
        return {"steps": [label(step, *found.get(step, [])) for step in asked]}

    def across(self, seen: SeenRequest) -> Json:
        """All cases cited."""
        name = taxonomy_of(seen)[0]
        cites = re.findall(r'<case trajectory="([^"]+)"', shown(seen))
        return {"cites": cites, "reflection": f"It recurs everywhere. Always {REMEDIES[name]}."}

    def merged(self, seen: SeenRequest) -> Json:
        """What the levels say, one after the other."""
        told = re.findall(r"<(?:trial_reflection|step_critique|error_reflection)[^>]*>\n(.+)", shown(seen))
        return {"reflection": " ".join(told)}


def kind(name: str, definition: str = "") -> Json:
    """A NewErrorType."""
    return {"definition": definition or f"The step lacks this: {REMEDIES.get(name, name)}.", "name": name}


def label(step: int, *habits: str) -> Json:
    """A StepLabel."""
    told = {habit: f"Step {step} shows that it has to {REMEDIES.get(habit, habit)}." for habit in habits}
    return {"step": step, "errors": [{"critique": text, "error_type": name} for name, text in told.items()]}


@dataclass
class Synthesized(GraphRun):
    """A synthesizer under test, and its trials."""

    trials: Trials = field(default_factory=lambda: Trials({}))

    def names(self) -> list[str]:
        """The taxonomy's names."""
        return [error["name"] for error in self.state.get("taxonomy", [])]


Synthesize = Callable[..., Any]


@pytest.fixture
def synthesize(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Synthesize:
    """Run the compiled synthesizer on tasks (a dict of habits by name) or on
    imported trajectories (a list); `go=False` only builds it."""

    async def start(
        material: Habits | Sequence[Loaded],
        model: Callable[[SeenRequest], Answer] | None = None,
        *,
        judge: Callable[[str, int], str] = lambda task, trial: "",
        go: bool = True,
        **choices: Any,
    ) -> Synthesized:
        server = model_server(model or Reader())
        habits = material if isinstance(material, Mapping) else {}
        trials = Trials(habits, judge=judge)
        graph = build_synthesizer(settings(server, request_retries=0), InMemorySaver(), attempt=trials)
        context = SynthesizerContext.model_validate({"model": "openai:scripted", **choices})
        out = Synthesized(graph, server, context, trials=trials)
        value = (
            {"tasks_file": [task_of(name).model_dump(mode="json") for name in habits]}
            if isinstance(material, Mapping)
            else {"trajectories": [item.model_dump(mode="json") for item in material]}
        )
        return await out.go(value) if go else out

    return start
