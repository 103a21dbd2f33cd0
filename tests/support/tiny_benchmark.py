"""A benchmark and methods of the tests' own: counting questions, asked of the model once.

Named on the command line as MODULE:OBJECT, so that a process of its own can use them too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from forethought.evals.types import (
    Attempt,
    Benchmark,
    DataError,
    Episode,
    InfrastructureError,
    Method,
    Sample,
    Score,
    Services,
    TrialContext,
    UnscoredError,
)
from forethought.models.types import Message, no_usage, reply_spec
from forethought.trajectories.types import Trajectory, TrajectoryStep

_HERE = "tests.support.tiny_benchmark"
NAME, ONCE, TWICE, LEARNS = (f"{_HERE}:{name}" for name in ("BENCHMARK", "once", "twice", "learns"))

QUESTION = "Count the"


class TinyAnswer(BaseModel):
    """What the methods ask for."""

    answer: str


class Verdict(BaseModel):
    """What the judge says."""

    right: bool


class Tiny(Benchmark):
    """Counts things; `judge=model` has a model judge."""

    name = "tiny"
    title = "Tiny benchmark"
    about = "Counts things."
    main_metric = "right"
    options: Mapping[str, str] = {"judge": "exact, model or nobody", "split": "test or train"}

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The lines of data/test.jsonl."""
        path = data / f"{options.get('split', 'test')}.jsonl"
        if not path.exists():
            raise DataError(f"{path} is not there: write it")
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        judge = {"judge": options.get("judge", "exact")}
        return [
            Sample(
                row["id"],
                f"{QUESTION} {row['id']}.",
                target=row["target"],
                groups={"size": "small"},
                data=judge,
            )
            for row in rows
        ]

    def episode(self, sample: Sample, services: Services) -> Episode | None:
        """None, and for a sample called nowhere not even that."""
        if sample.id == "nowhere":
            raise InfrastructureError("there is no server for nowhere")
        return None

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Whether the answer is the target."""
        if sample.data["judge"] == "model":
            asked = await services.models.ask(
                role="judge",
                model=services.judge_model,
                messages=[Message("user", f"Is {attempt.answer} right for {sample.id}?")],
                reply=reply_spec(Verdict),
            )
            return Score({"right": float(asked.reply.right), "length": len(attempt.answer)})
        if sample.data["judge"] == "nobody":
            raise UnscoredError("the answers are not public")
        right = float(attempt.answer == sample.target)
        return Score(
            {"right": right, "length": len(attempt.answer)}, "as counted", "right" if right else "wrong"
        )

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """How many samples were tried."""
        return {"tried": len(scored)}


class Said(TypedDict, total=False):
    """State of the methods' graph."""

    drafts: list[str]
    answer: str


class Asks(Method):
    """Asks the model `times` times, in a graph of one node."""

    def __init__(self, name: str, times: int) -> None:
        self.name, self.times = name, times
        self.about = f"Asks {times} time(s)."

    async def run(self, workshop: TrialContext) -> Attempt:
        """The model's last answer."""

        async def ask(state: Said) -> Said:
            drafts = []
            for _ in range(self.times):
                asked = await workshop.models.ask(
                    role="asker",
                    model=workshop.model,
                    messages=[
                        Message("system", f"Learned: {json.dumps(dict(workshop.learned))}"),
                        Message("user", workshop.sample.task),
                    ],
                    reply=reply_spec(TinyAnswer),
                )
                drafts.append(asked.reply.answer)
            return {"drafts": drafts, "answer": drafts[-1]}

        builder = StateGraph(Said)
        builder.add_node("asker", ask)
        builder.add_edge(START, "asker")
        builder.add_edge("asker", END)
        graph = builder.compile(checkpointer=workshop.checkpointer)
        config: Any = {"configurable": {"thread_id": workshop.thread}}
        state = await graph.ainvoke({}, config, durability="sync")
        step = TrajectoryStep(number=1, action=f"answer: {state['answer']}")
        return Attempt(
            answer=state["answer"],
            status="answered",
            trajectory=Trajectory(
                id=workshop.thread, task=workshop.sample.task, steps=(step,), answer=state["answer"]
            ),
            usage=no_usage(),
            seconds=0.0,
            steps=1,
            tries=self.times,
        )


class Learns(Asks):
    """Learns how many of its training samples came out right."""

    needs_training = True

    async def train(self, trials: Sequence[TrialContext]) -> Mapping[str, Any]:
        """Tries each, and asks for the outcome."""
        outcomes = []
        for trial in trials:
            assert trial.outcome is not None
            outcomes.append(await trial.outcome(await self.run(trial)))
        return {"right": sum(outcomes), "of": [trial.sample.id for trial in trials]}


BENCHMARK = Tiny()
once, twice, learns = Asks("once", 1), Asks("twice", 2), Learns("learns", 1)
