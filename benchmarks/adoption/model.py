"""The scripted model: it plans by habit, and follows whatever advice its prompt shows."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.adoption.tasks import Fault, Task, by_question
from benchmarks.planted_faults.held_out import LATEST, Market
from tests.support.agent import kind_of
from tests.support.exchange import Answer, SeenRequest
from tests.support.replies import Json, answer, checked, diagnosis, finish, plan, sub

_NEW = re.compile(r"(?m)^(\w+): (\d+) euros")
_PRICES = (_NEW, re.compile(r"(In all towns): (\d+) euros"), re.compile(r"(about) (\d+) euros"))


APPLIES: Mapping[Fault | None, str] = {
    "condition": "what an item costs at the market of a town, the market's fee included",
    "entry": "what exactly an item costs the buyer, fee included",
    "edition": "what a buyer must pay at present for an item, with the fee",
    "period": "what an item did cost at a market in a year, the fee included",
    "cut": "what pieces of an item cost at all five markets",
    None: "what an item costs at a market, fee included",
}


@dataclass(frozen=True)
class Candidate:
    """An advice for the gate, and its effect on the model."""

    text: str
    about: Fault | None
    """The fault that it mends or makes; None for an idle one."""
    useful: bool


@cache
def candidates() -> tuple[Candidate, ...]:
    """All advice, useful first."""
    loaded: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("advice.yaml").read_text("utf-8"))
    made = [Candidate(text, kind, True) for kind, texts in loaded["useful"].items() for text in texts]
    made += [Candidate(text, None, False) for text in loaded["idle"]]
    made += [Candidate(text, kind, False) for kind, texts in loaded["breaking"].items() for text in texts]
    return tuple(made)


@dataclass
class PlanningModel:
    """A policy for tests.support.model_server.ModelServer."""

    tasks: Sequence[Task]
    noise: float = 0.05
    """Share of plans that come out the other way."""
    seed: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    """Plans made, by question and advice."""
    offered: Candidate | None = None
    """The advice that it writes when it looks back on a failed run."""

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        task, kind = by_question(self.tasks, seen.text), kind_of(seen)
        replies: dict[str, Any] = {
            "PlanDiagnosis": diagnosis,
            "ToolChoice": lambda: finish("nothing was found"),
            "AnswerDraft": lambda: _answer(seen, task),
            "Plan": lambda: plan(*_subtasks(task, self._fault(seen, task))),
            "CriticalError": lambda: _critical(seen),
            "AdviceDraft": self._draft,
            "AssertionVerdicts": lambda: self._verdicts(seen),
        }
        reply = replies[kind]()
        fields = seen.schema["properties"] if seen.schema else reply
        return {key: value for key, value in reply.items() if key in fields}

    def _fault(self, seen: SeenRequest, task: Task) -> Fault | None:
        """The mistake of the next plan: the habit, then the advice, then chance."""
        shown = [item for item in candidates() if item.text in seen.text]
        fault: Fault | None = task.kind if task.faulty else None
        for item in shown:
            if item.about is not None and item.useful and fault == item.about:
                fault = None
            elif item.about is not None and not item.useful and task.makes(item.about):
                fault = item.about
        key = f"{task.question}:{[item.text for item in shown]}"
        self.asked[key] += 1
        if random.Random(f"{self.seed}:{key}:{self.asked[key]}").random() < self.noise:
            return None if fault else task.kind
        return fault

    def _draft(self) -> Json:
        """The advice on offer, as the learner's reflection."""
        assert self.offered
        about = self.offered.about
        return {
            "diagnosis": "",
            "replaces": [],
            "kind": "error",
            "name": about or "care",
            "applies": APPLIES[about],
            "wrong": "The plan reached a wrong answer.",
            "instead": self.offered.text,
            "failure": "",
            "success": "",
        }

    def _verdicts(self, seen: SeenRequest) -> Json:
        """A judge who is always right: a plan holds if it makes the right look-ups and no others."""
        verdicts = []
        for part in re.split(r"(?m)^# Task \d+$", seen.last)[1:]:
            right = _look_ups(json.dumps(_subtasks(by_question(self.tasks, part), None)))
            for number, text in re.findall(r'<case number="(\d+)">(.*?)</case>', part, re.DOTALL):
                holds = _look_ups(text) == right
                verdicts.append({"number": int(number), "reasoning": "", "holds": holds})
        return {"verdicts": verdicts}


def _look_ups(plan_text: str) -> set[str]:
    return set(re.findall(r"look up with (\w+ for [\w ;=-]+)", plan_text))


def _critical(seen: SeenRequest) -> Json:
    read = re.search(r"\d+ euros", seen.last)
    assert read
    return {
        "cascading_effects": [], "root_cause": "The plan reached a wrong answer.", "evidence": read[0],
        "critical_step": 1, "critical_module": "planning", "error_type": "inefficient_plan",
        "correction_guidance": "Plan other look-ups.",
    }  # fmt: skip


def _subtasks(task: Task, fault: Fault | None) -> list[Json]:
    world = task.world
    if isinstance(world, Market):
        year = LATEST if fault == "period" else world.year
        pages = [1, 2] if task.kind == "cut" and fault != "cut" else [1]
        found = [
            _reading(f"prices_{part}", "prices", item=world.item, year=year, part=part) for part in pages
        ]
        return found if task.kind == "cut" else [*found, _reading("fee", "fees", town=world.town)]
    name, edition = world.item.replace(" ", "-"), "old" if fault == "edition" else "new"
    price = _reading("price", "page", item=name, edition=edition)
    if fault == "entry":
        price = _reading("price", "catalogue", item=world.item)
    return [price] if fault == "condition" else [price, _reading("fee", "fees", town=world.town)]


def _reading(key: str, tool: str, **arguments: Any) -> Json:
    asked = "; ".join(f"{name}={value}" for name, value in sorted(arguments.items()))
    described = f"look up with {tool} for {asked}."
    made = sub(key, description=described, call={"tool": tool, "arguments": arguments})
    return {**made, "finishes": True}


def _answer(seen: SeenRequest, task: Task) -> Answer:
    """Add up the amounts of the steps, without a doubt."""
    found = next((prices for pattern in _PRICES if (prices := pattern.findall(seen.text))), [])
    rows = {name: int(price) for name, price in found}
    fee = re.findall(r"a fee of (\d+) (euros|cents)", seen.text)
    if task.kind == "cut":
        text = str(sum(rows.values()))
    else:
        price = rows.get(task.world.town) or next(iter(rows.values()), 0)
        text = str(price + sum(int(n) // (100 if unit == "cents" else 1) for n, unit in fee[:1]))
    if seen.schema and "checks" in seen.schema["properties"]:
        return checked(text)
    return answer(text)
