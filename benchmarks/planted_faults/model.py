"""The scripted model: one habit a task, mended only where the prompt shows why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.planted_faults.world import Fault, Prices, prices_of
from forethought.evals.types import Sample
from tests.support.agent import kind_of, subtask_of
from tests.support.exchange import Answer, SeenRequest
from tests.support.replies import Json, answer, ask_replan, call, diagnosis, plan, revision, sub

_STEP = re.compile(r'<step number="(\d+)">\n(.*?)</step>', re.DOTALL)
LOW = 4
"""The score that the script gives its faulty work."""


@dataclass(frozen=True)
class Known:
    """What the script knows of a task: what is true, and which fault it has to make."""

    prices: Prices
    fault: Fault


@dataclass
class PlantedModel:
    """A policy for tests.support.model_server.ModelServer."""

    tasks: Mapping[str, Known] = field(default_factory=dict)

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        known = next(known for task, known in self.tasks.items() if task in seen.text)
        replies = {
            "Plan": _plan,
            "PlanDiagnosis": _diagnosis,
            "PlanRevision": _revision,
            "AnswerDraft": _answer,
        }
        kind = kind_of(seen)
        reply = _move(seen, known) if kind == "ToolChoice" else replies[kind](seen, known)
        # Only what is asked for, as a strict provider has it: a score that nobody wants mends nothing.
        asked = seen.schema["properties"] if seen.schema else reply
        return {key: value for key, value in reply.items() if key in asked}


def planted(samples: Iterable[Sample]) -> PlantedModel:
    """The model for these samples."""
    return PlantedModel(
        {sample.task: Known(prices_of(sample.data), _fault(sample.groups["fault"])) for sample in samples}
    )


def _fault(name: str) -> Fault:
    return name  # type: ignore[return-value]


def _price(tool: str, key: str = "price") -> Json:
    return sub(key, description=f"find the price with {tool}", expected="the price in the town")


def _fee() -> Json:
    return sub("fee", description="find the market's fee with fees", expected="the fee")


def _plan(seen: SeenRequest, known: Known) -> Answer:
    """The planner's habits, and what mends them: its own low score, why it re-plans, long-term memory."""
    good = plan(_price("page"), _fee())
    if known.fault == "condition":
        return plan(_price("page"))
    if known.fault == "tool":
        failed = "# Why a new plan is due" in seen.text and "is closed" in seen.text
        return plan(_price("page", "price_by_page"), _fee()) if failed else plan(_price("ledger"), _fee())
    if known.fault == "plan" and not _revising(seen):
        return plan(_price("catalogue"), _fee(), score=LOW, evaluation="a short entry is no price")
    if known.fault == "entry":
        taught = "# Long-term memory" in seen.text and "read the page" in seen.text
        return plan(_price("page", "price_by_page")) if taught else plan(_price("catalogue"), _fee())
    return good


def _diagnosis(seen: SeenRequest, known: Known) -> Answer:
    """A condition that no subtask looks after is found where the planning errors say what to look for."""
    grounded = "# Planning errors" in seen.role_text
    to_come = seen.last.rsplit("# The plan to examine", 1)[-1]
    lacks = "fees" not in to_come and '<result subtask="fee"' not in seen.last
    if not (grounded and lacks):
        return diagnosis()
    return diagnosis("insufficient_constraint_verification", subtasks=(_price("page"), _fee()))


def _revision(seen: SeenRequest, known: Known) -> Answer:
    return revision(_price("page"), _fee())


def _move(seen: SeenRequest, known: Known) -> Answer:
    """The tool agent's habits."""
    key, prices = subtask_of(seen), known.prices
    if key == "fee":
        return call(tool="fees", expected=f'"{prices.town}"', town=prices.town)
    own = seen.messages[1][1].split("<subtask ")[1].split("</subtask>")[0]
    if "with catalogue" in own:
        return call(tool="catalogue", item=prices.item)
    if "with ledger" in own:
        return _ledger(seen, prices)
    return _page(seen, known)


def _ledger(seen: SeenRequest, prices: Prices) -> Answer:
    """After a failure a new plan is asked for, if that can be; else the same is tried under other names."""
    failures = seen.last.count("<memory>")
    if failures and "`replan`" in seen.role_text:
        return ask_replan("the ledger is closed; take the price from the item's page")
    return call(tool="ledger", item=prices.item, town=prices.town + "!" * failures)


def _page(seen: SeenRequest, known: Known) -> Answer:
    prices, fault = known.prices, known.fault
    name, expected = prices.item.replace(" ", "-"), f'"{prices.town}"'
    right = call(tool="page", expected=expected, item=name, edition="new")
    if fault == "move" and not _revising(seen):
        # Worth trying, by the floor, if nothing better is thought of.
        return call(
            tool="page", score=LOW, evaluation="the old edition is out of date", item=name, edition="old"
        )
    if fault == "spelling" and "there is no page" not in seen.text:
        return call(tool="page", item=prices.item.title(), edition="new")
    if fault == "edition" and "Expected, but not in what came" not in seen.text:
        return call(tool="page", expected=expected, item=name, edition="old")
    return right


def _answer(seen: SeenRequest, known: Known) -> Answer:
    """Adds up what the steps show. Only a short entry makes it doubt, and only in the task planted for it."""
    town = re.escape(known.prices.town)
    steps = [int(n) for n, text in _STEP.findall(seen.text) if "\nfailed (" not in text]
    shown = [
        re.findall(pattern, seen.text)
        for pattern in (rf"(?m)^{town}: (\d+) euros", r"In all towns: (\d+) euros", r"about (\d+) euros")
    ]
    price = next((found[-1] for found in shown if found), None)
    fee = re.findall(r"takes a fee of (\d+) euros", seen.text)
    if price is None:
        # Resigned: it takes this for the best answer to be had, so that no further round begins.
        return answer("The price could not be found.", steps[-1:])
    text = str(int(price) + (int(fee[-1]) if fee else 0))
    if known.fault == "entry" and not shown[0]:
        return answer(text, steps, score=LOW, evaluation="it rests on a short entry: read the page")
    return answer(text, steps)


def _revising(seen: SeenRequest) -> bool:
    """Whether its own evaluation of an earlier try is before it."""
    return "Your own evaluation gave this" in seen.last
