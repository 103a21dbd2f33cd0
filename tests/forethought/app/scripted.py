"""A model that plans two independent subtasks and one that joins them, for tests of the command line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.model_server import Answer, Fault, SeenRequest
from tests.support.replies import answer, defects, plan

Json = dict[str, Any]


def subtask(key: str, description: str, after: tuple[str, ...] = ()) -> Json:
    """A planned subtask."""
    return {"id": key, "description": description, "depends_on": list(after), "expected": ""}


@dataclass
class Script:
    """The replies, by what is asked for; each part can be changed while a test runs."""

    answer: str = "42"
    answer_score: int = 9
    errors: tuple[str, ...] = ()
    """Planning errors that the first diagnosis finds."""
    question: str = ""
    """If set: the subtask `ask` asks the person this."""
    description: str = "Compute 40 + 2"
    fault: Callable[[SeenRequest], Fault | None] = lambda seen: None
    diagnoses: int = 0

    def __call__(self, seen: SeenRequest) -> Answer:
        if fault := self.fault(seen):
            return fault
        return getattr(self, seen.reply_name.lower())(seen)

    def plan(self, seen: SeenRequest) -> Json:
        """Two side by side, one after them."""
        first = subtask("ask", "Find out the colour") if self.question else subtask("add", self.description)
        second = subtask("multiply", "Compute 6 * 7")
        last = subtask("join", "Compare both", (first["id"], "multiply"))
        return {**plan(first, second, last), "advice": advised(seen)}

    def plandiagnosis(self, seen: SeenRequest) -> Json:
        """Errors the first time only."""
        self.diagnoses += 1
        found = self.errors if self.diagnoses == 1 else ()
        errors = [{"error_type": name, "evidence": "the plan", "risk": "a wrong sum"} for name in found]
        return {"situation": "nothing done", "tool_notes": "", "errors": errors}

    def planrevision(self, seen: SeenRequest) -> Json:
        """The same plan with a check in its last subtask."""
        subtasks = self.plan(seen)["subtasks"]
        subtasks[-1]["description"] = "Compare both, and check the units"
        return {"subtasks": subtasks, "changes": "a check of the units was added"}

    def toolchoice(self, seen: SeenRequest) -> Json:
        """One move a subtask."""
        own = own_subtask(seen)
        if "Compare both" in own:
            return choice("finish", result="both say 42")
        if "Find out the colour" in own:
            return choice("call", tool="ask_user", arguments={"question": self.question, "choices": None})
        code = "6 * 7" if "6 * 7" in own else "40 + 2"
        return choice("call", tool="python", arguments={"code": code})

    def answerdraft(self, seen: SeenRequest) -> Json:
        """Rests on the newest successful steps."""
        steps = [int(n) for n in re.findall(r'<step number="(\d+)">', seen.last)]
        made = answer(self.answer, sorted(set(steps))[-2:], score=self.answer_score, evaluation="thin")
        return {**made, "advice": advised(seen)}

    def wordedadvice(self, seen: SeenRequest) -> Json:
        """The person's words on units, in place of all earlier advice in the prompt."""
        known = re.findall(r'<advice label="(k\d+)">', seen.text)
        said = seen.text.partition("<person>\n")[2].partition("\n</person>")[0]
        about = {"applies": "products and sums with a unit", "instead": f"In sums, {said}", "wrong": ""}
        return {"kind": "rule", "name": "units_of_sums", "replaces": known, **about}


def advised(seen: SeenRequest) -> list[str]:
    """The labels of all advice that a prompt shows."""
    return re.findall(r"^\[(a\d+)\]", seen.text, re.MULTILINE)


def own_subtask(seen: SeenRequest) -> str:
    """The subtask that a tool agent is asked to carry out; the plan beside it holds the others, too. '' for
    another role."""
    found = re.search(r'<subtask id="[^"]+">(.*?)</subtask>', seen.text, re.DOTALL)
    return found.group(1) if found else ""


def choice(action: str, **values: Any) -> Json:
    """A ToolChoice."""
    empty: Json = {"thought": "go", "surprise": "none", "tool": None, "arguments": None, "result": None}
    rest: Json = {"finishes": action == "call", "reason": None, "expected": None}
    return {**empty, **rest, "action": action, "defects": defects(9), **values}
