"""The scripted model: one habit a task, mended only where the prompt shows why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.planted_faults.world import Fault, Prices, prices_of
from forethought.evals.types import Sample
from tests.support.agent import kind_of
from tests.support.exchange import Answer, SeenRequest
from tests.support.replies import (
    Json,
    answer,
    ask_replan,
    call,
    check,
    checked,
    diagnosis,
    plan,
    revision,
    sub,
)

_STEP = re.compile(r'<step number="(\d+)">\n(.*?)</step>', re.DOTALL)
NEW_PAGE = "open the item's page in the new edition"
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


def _price(tool: str, key: str = "price", call: Json | None = None, expected: str = "") -> Json:
    described = expected or "the price in the town"
    return sub(key, description=f"find the price with {tool}", expected=described, call=call)


def _fee(call: Json | None = None) -> Json:
    return sub("fee", description="find the market's fee with fees", expected="the fee", call=call)


def _subtasks(seen: SeenRequest, known: Known, tool: str, key: str = "price") -> tuple[Json, Json]:
    """The look-ups of the price and of the fee. They carry their calls if the prompt asks for calls."""
    prices = known.prices
    if "- `calls`:" not in seen.text and "`calls`: list of" not in seen.text:
        return _price(tool, key), _fee()
    arguments = {
        "page": _page_arguments(known, seen),
        "catalogue": {"item": prices.item},
        "ledger": {"item": prices.item, "town": prices.town},
    }[tool]
    quoted = f'the price in "{prices.town}"' if known.fault == "edition" else ""
    price = _price(tool, key, {"tool": tool, "arguments": arguments}, quoted)
    return price, _fee({"tool": "fees", "arguments": {"town": prices.town}})


def _plan(seen: SeenRequest, known: Known) -> Answer:
    """The planner's habits, and what mends them: its own low score, why it re-plans, long-term memory."""
    if known.fault == "condition":
        return plan(_subtasks(seen, known, "page")[0])
    if known.fault == "tool":
        failed = "# Why a new plan is due" in seen.text and "is closed" in seen.text
        other = _subtasks(seen, known, "page", "price_by_page")
        return plan(*(other if failed else _subtasks(seen, known, "ledger")))
    if known.fault == "plan" and not _revising(seen):
        short = _subtasks(seen, known, "catalogue")
        return plan(*short, score=LOW, evaluation="a short entry is no price")
    if known.fault == "entry":
        taught = "# Long-term memory" in seen.text and "read the page" in seen.text
        if taught:
            return plan(_subtasks(seen, known, "page", "price_by_page")[0])
        return plan(*_subtasks(seen, known, "catalogue"))
    return plan(*_subtasks(seen, known, "page"))


def _diagnosis(seen: SeenRequest, known: Known) -> Answer:
    """A condition that no subtask looks after is found where the planning errors say what to look for."""
    grounded = "# Planning errors" in seen.role_text
    to_come = seen.last.rsplit("# The plan to examine", 1)[-1]
    lacks = "fees" not in to_come and '<result subtask="fee"' not in seen.last
    if not (grounded and lacks):
        return diagnosis()
    return diagnosis("insufficient_constraint_verification", subtasks=_subtasks(seen, known, "page"))


def _revision(seen: SeenRequest, known: Known) -> Answer:
    return revision(_price("page"), _fee())


def _move(seen: SeenRequest, known: Known) -> Answer:
    """The tool agent's habits."""
    prices = known.prices
    own = seen.messages[1][1].split("<subtask ")[1].split("</subtask>")[0]
    if "with fees" in own and NEW_PAGE not in own:
        return call(tool="fees", expected=f'"{prices.town}"', town=prices.town)
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
    arguments = _page_arguments(known, seen)
    expected = "" if known.fault == "spelling" else f'"{known.prices.town}"'
    if known.fault == "move" and arguments["edition"] == "old":
        # Worth trying, by the floor, if nothing better is thought of.
        return call(tool="page", score=LOW, evaluation="the old edition is out of date", **arguments)
    return call(tool="page", expected=expected, **arguments)


def _page_arguments(known: Known, seen: SeenRequest) -> Json:
    """The page that it opens by habit, and the right one if the prompt shows why."""
    item, ordered = known.prices.item, NEW_PAGE in seen.last
    if known.fault == "spelling" and "there is no page" not in seen.text:
        return {"item": item.title(), "edition": "new"}
    mended = {"move": _revising(seen), "edition": "Expected, but not in what came" in seen.text}
    old = not (ordered or mended.get(known.fault, True))
    return {"item": item.replace(" ", "-"), "edition": "old" if old else "new"}


def _answer(seen: SeenRequest, known: Known) -> Answer:
    """Adds up what the steps show. Where it is asked for checks, it looks for the town's own price in the new
    edition and for the fee; else only a short entry makes it doubt, and only in the task planted for it."""
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
    if seen.schema and "checks" in seen.schema["properties"]:
        found = {"the price at the town's market": shown[0], "the market's fee": fee}
        works = dict(zip(found, (NEW_PAGE, "find the market's fee with fees"), strict=True))
        missing = [works[about] for about in found if not found[about]]
        checks = [check(about, "yes" if found[about] else "no") for about in found]
        return checked(text, *checks, work="; ".join(missing), used=steps)
    if known.fault == "entry" and not shown[0]:
        return answer(text, steps, score=LOW, evaluation="it rests on a short entry: read the page")
    return answer(text, steps)


def _revising(seen: SeenRequest) -> bool:
    """Whether its own evaluation of an earlier try is before it."""
    return "Your own evaluation gave this" in seen.last
