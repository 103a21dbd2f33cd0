"""The model behind the documents' commands and examples: it plays every role that they ask."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from forethought.evals.environments.small_shop.goods import catalogue
from tests.forethought.app.debug_script import DebugScript
from tests.forethought.app.eval.scripts import Shopper
from tests.forethought.app.scripted import choice, own_subtask
from tests.support.counting import Counter
from tests.support.distilling import Distiller, finding
from tests.support.evaluating import done
from tests.support.model_server import Answer, SeenRequest

Json = dict[str, Any]
FAILS = "Write TASK well."
"""A task whose answers get a low score."""
_SYNTHESIS = ("TrialReflection", "TaxonomyGrowth", "TypeReflection", "MergedReflection")
_DISTILLATION = ("ComparativeDiagnosis", "Aggregation", "PatternSet")


class DocumentsModel(DebugScript):
    """The agent, the debugger and the judge; others for shopping, synthesis and distillation."""

    def __init__(self) -> None:
        super().__init__()
        self.shopper, self.synthesis, self.distillation = Shopper(), Counter(), Distiller(diagnose=diagnose)
        self.errands = [errand.instruction for errand in catalogue()[1]]
        self.teams = {word: cycle("AB") for word in ("Which team", "Summarise")}

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        if any(errand in seen.text for errand in self.errands):
            return self.shopper(seen)
        if seen.reply_name in _SYNTHESIS or "# The steps to label" in seen.text:
            return self.synthesis(seen)
        if seen.reply_name in _DISTILLATION:
            return self.distillation(seen)
        return super().__call__(seen)

    def toolchoice(self, seen: SeenRequest) -> Json:
        """Orders if that is the task."""
        if "Order" in seen.text and "40 + 2" in own_subtask(seen):
            return choice("call", tool="order", arguments={"pieces": 10})
        return super().toolchoice(seen)

    def answerdraft(self, seen: SeenRequest) -> Json:
        """Right for every second run of each of the pages' own tasks; see DebugScript for others."""
        self.answer_score = 3 if FAILS in seen.text else 9
        team = [f"Team {next(letters)}" for word, letters in self.teams.items() if word in seen.text]
        return {**super().answerdraft(seen), **({"answer": team[0]} if team else {})}

    def reactmove(self, seen: SeenRequest) -> Json:
        """An answer without a look."""
        return done("42")

    def judgement(self, seen: SeenRequest) -> Json:
        """No answer is right."""
        return {"reasoning": "it is another answer", "correct": False}

    def assertionverdicts(self, seen: SeenRequest) -> Json:
        """Only Team B meets the two criteria; no decision holds."""
        holds, cases = "Team B" in seen.text, seen.text.count("<case ") or 2
        return {"verdicts": [{"number": n, "reasoning": "see", "holds": holds} for n in range(1, cases + 1)]}

    def advicedraft(self, seen: SeenRequest) -> Json:
        """A rule."""
        parts = {"name": "check_sums", "applies": "sums of two numbers", "instead": "Compute each sum twice."}
        return {
            "diagnosis": "",
            "replaces": [],
            "kind": "rule",
            "wrong": "",
            "failure": "",
            "success": "",
            **parts,
        }


def diagnose(seen: SeenRequest) -> Json:
    """One error, with words that stand in each run."""
    found = finding("first_hit", "")
    for evidence in (*found["failure_evidence"], *found["success_evidence"]):
        evidence["quote"] = "Compute 40 + 2"
    return {"comparison": "They differ.", "errors": [found]}
