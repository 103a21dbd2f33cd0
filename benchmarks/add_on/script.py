"""The scripted model: what it says as planner, reflector, checker and worker, in each framework's form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from benchmarks.planted_faults.world import Prices
from tests.support.exchange import Reply, SeenRequest
from tests.support.replies import Json

Fault = Literal["none", "condition", "source", "tool", "answer"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""A plan without the fee; one that takes a short entry for the price; one with a tool that is out of order; a
sound plan of which the worker leaves a part out."""
PAGE, CATALOGUE, LEDGER, FEES = (
    f"Find the price with {name}." for name in ("page", "catalogue", "ledger", "fees")
)
FEES = "Find the market's fee with fees, and add it."
PLANS: dict[Fault, tuple[str, ...]] = {
    "none": (PAGE, FEES),
    "condition": (PAGE,),
    "source": (CATALOGUE, FEES),
    "tool": (LEDGER, FEES),
    "answer": (PAGE, FEES),
}
KINDS = {"condition": "insufficient_constraint_verification", "source": "shallow_content_verification"}
"""The faults that are visible in the plan."""
CHARACTERS = 4
"""Of a token."""
_FAILED = "closed and answers nothing"


@dataclass(frozen=True)
class Script:
    """A policy for tests.support.model_server.ModelServer: what is true of each task, and its fault."""

    tasks: Mapping[str, tuple[Prices, Fault]]

    def __call__(self, seen: SeenRequest) -> Reply:
        """The reply to a request, with its tokens."""
        prices, fault = next(known for task, known in self.tasks.items() if task in seen.text)
        said = self._said(seen, fault) or _work(seen, prices, fault)
        text, calls = ("", (said,)) if isinstance(said, tuple) else (said, ())
        written = text if isinstance(text, str) else json.dumps(text)
        asked = [seen.body.get(name) for name in ("messages", "tools", "response_format")]
        tokens = {
            "prompt_tokens": len(json.dumps(asked)) // CHARACTERS,
            "completion_tokens": len(f"{written}{calls or ''}") // CHARACTERS,
        }
        return Reply(text, calls, **tokens)

    def _said(self, seen: SeenRequest, fault: Fault) -> Json | str | None:
        """What planner, reflector and checker say; None for the worker."""
        plan = PLANS["none"] if _FAILED in seen.text and "plan" in seen.text else PLANS[fault]
        if "<end_plan>" in seen.body.get("stop", ()):
            listed = "\n".join(f"{at}. {part}" for at, part in enumerate(plan, 1))
            return f"## 1. Facts survey\nItem, town and fee.\n\n## 2. Plan\n{listed}"
        if seen.reply_name == "Plan":
            return {"known": ["the fee counts"], "subtasks": _subtasks(plan), "discard": []}
        if seen.reply_name == "PlanDiagnosis":
            return _diagnosis(seen.text)
        return _check(seen.text) if seen.reply_name == "AnswerCheck" else None


def _subtasks(parts: tuple[str, ...]) -> list[Json]:
    return [
        {"id": f"s{at}", "description": part, "depends_on": [], "expected": ""}
        for at, part in enumerate(parts)
    ]


def _diagnosis(text: str) -> Json:
    plan = text.split("# The plan to examine")[1]
    grounded = "## Planning errors" in text
    kinds = [KINDS["condition"]] * (FEES not in plan) + [KINDS["source"]] * (CATALOGUE in plan)
    errors = [{"evidence": "the plan", "risk": "a wrong sum", "error_type": kind} for kind in kinds]
    return {"errors": errors, "subtasks": _subtasks(PLANS["none"])} if errors and grounded else {"errors": []}


def _check(text: str) -> Json:
    lacks = "takes a fee of" not in text.split("# The steps")[1]
    check = {
        "about": "the fee",
        "done": "no step shows it" if lacks else "seen",
        "ok": "no" if lacks else "yes",
    }
    return {"checks": [check], "work": FEES if lacks else ""}


def _work(seen: SeenRequest, prices: Prices, fault: Fault) -> Any:
    """The worker's next call, or its answer: by the last plan that its prompt shows, else by its habit."""
    text, shown = seen.text, [part for part in (PAGE, CATALOGUE, LEDGER) if part in seen.text]
    source = max(shown, key=text.rfind) if shown else PLANS[fault][0]
    wants_fee = FEES in text if shown else FEES in PLANS[fault]
    if fault == "answer" and "did not pass" not in text:
        wants_fee = False
    town = re.escape(prices.town)
    patterns = {PAGE: rf"(?m){town}: (\d+) euros", CATALOGUE: r"about (\d+) euros", LEDGER: r"ledger: (\d+)"}
    price = re.findall(patterns[source], text)
    fee = re.findall(r"takes a fee of (\d+) euros", text)
    if not price and not (source == LEDGER and text.count(_FAILED) >= 4):
        name = prices.item.replace(" ", "-")
        return {
            PAGE: ("page", {"item": name, "edition": "new"}),
            CATALOGUE: ("catalogue", {"item": prices.item}),
            LEDGER: ("ledger", {"item": prices.item, "town": prices.town}),
        }[source]
    if price and wants_fee and not fee:
        return "fees", {"town": prices.town}
    total = int(price[-1]) + (int(fee[-1]) if fee and wants_fee else 0) if price else "unknown"
    return ("final_answer", {"answer": str(total)}) if "final_answer" in seen.functions else str(total)
