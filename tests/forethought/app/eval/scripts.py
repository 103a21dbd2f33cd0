"""Scripted models for the methods that learn from failures."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from forethought.evals.environments.small_shop.goods import catalogue
from tests.support.evaluating import move
from tests.support.model_server import Answer, SeenRequest

Json = dict[str, Any]
RIGHT, REMEDY = "42", "count each one twice"
GUIDANCE = "Choose every option that is asked for before you buy."


def learn(seen: SeenRequest) -> Answer:
    """Reads failed tries: finds the same error everywhere, and a remedy that only training shows."""
    hasty = [{"error_type": "hasty_count", "critique": "It counted once."}]
    found = [] if f"answer: {RIGHT}" in seen.last else hasty
    numbers = sorted({int(text) for text in re.findall(r"^Step (\d+)$", seen.last, re.MULTILINE)})
    replies: Json = {
        "TrialReflection": {"comparison": "Other.", "reflection": f"It was hasty: {REMEDY}."},
        "TaxonomyGrowth": {"rationale": "Haste.", "new_types": _new_types(seen)},
        "StepLabels": {"steps": [{"step": number, "errors": found} for number in numbers]},
        "TypeReflection": {
            "cites": re.findall(r'<case trajectory="([^"]+)"', seen.last),
            "reflection": "Haste recurs.",
        },
        "MergedReflection": {"reflection": f"Merged: {REMEDY}."},
        "SelfReflection": {"reflection": _prompted(seen)},
        "RoundReflection": {"reflection": f"Trained: {REMEDY}."},
    }
    reply: Answer = replies[seen.reply_name]
    return reply


def _prompted(seen: SeenRequest) -> str:
    """Only what other tasks showed tells it how to do better."""
    return f"I was hasty: {REMEDY}." if REMEDY in seen.last else "I was wrong."


def _new_types(seen: SeenRequest) -> list[dict[str, str]]:
    known = '<error_type name="hasty_count"' in seen.last
    return [] if known else [{"name": "hasty_count", "definition": "A step counts in haste."}]


def ways(user: str) -> tuple[list[str], list[str]]:
    """The actions of a hasty and of a careful shopper, by the errand in a prompt."""
    errand = next(errand for errand in catalogue()[1] if errand.instruction in user)
    begin = [f"search[{errand.instruction}]", f"click[{errand.wanted.lower()}]"]
    options = [f"click[{value}]" for value in errand.options]
    return [*begin, "click[buy now]"], [*begin, *options, "click[buy now]"]


class Shopper:
    """Buys without a look at the options, unless `heeds` stands in its prompt."""

    def __init__(self, heeds: str = GUIDANCE) -> None:
        self.heeds = heeds
        self.asked: Counter[str] = Counter()

    def __call__(self, seen: SeenRequest) -> Answer:
        kind, user = seen.reply_name, seen.messages[1][1]
        self.asked[kind] += 1
        reply = None if "# The steps to label" in user else getattr(self, f"_{kind}", None)
        return reply(user) if reply else learn(seen)

    def _action(self, user: str, heeds: str) -> str:
        way = ways(user)[heeds in user]
        return way[min(user.count("<step"), len(way) - 1)]

    def _ModularStep(self, user: str) -> Json:
        action = self._action(user, self.heeds)
        return {"memory": "m", "reflection": "r", "planning": f"now {action}", "action": action}

    def _ReactMove(self, user: str) -> Json:
        return move("act", action=self._action(user, REMEDY))

    def _StepLabels(self, user: str) -> Json:
        modules = ("memory", "reflection", "planning", "action", "system")
        return {name: {"evidence": "", "reasoning": "fine", "error_type": "no_error"} for name in modules}

    def _CriticalError(self, user: str) -> Json:
        return {
            "cascading_effects": [],
            "root_cause": "an option was not chosen",
            "evidence": "click[buy now]",
            "critical_step": 3,
            "critical_module": "planning",
            "error_type": "constraint_ignorance",
            "correction_guidance": GUIDANCE,
        }

    def _FailurePoint(self, user: str) -> Json:
        point = {"step": 2, "module": "action", "error_type": "wrong", "reason": "hasty."}
        return {**point, "suggestion": "Do it better."}

    def _SelfFeedback(self, user: str) -> Json:
        return {"feedback": "It was not careful."}

    def _Candidates(self, user: str) -> Json:
        return {"actions": [ways(user)[0][min(user.count("<step"), 2)]]}
