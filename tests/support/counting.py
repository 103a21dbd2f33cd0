"""A model that plays our agent and the readers of its trials: it counts wrongly until it is told to count
twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.agent import kind_of
from tests.support.model_server import Answer, Fault, SeenRequest
from tests.support.replies import answer, diagnosis, finish, plan, sub
from tests.support.synthesizing import kind, label

Json = dict[str, Any]
REMEDY = "count twice and compare both counts"


def counted(seen: SeenRequest) -> str:
    """What a request is about."""
    found = re.search(r"Count the (\w+)", seen.text)
    return found[1] if found else ""


@dataclass
class Counter:
    """The model."""

    fault: Callable[[SeenRequest], Fault | Answer | None] = lambda seen: None
    """What is said instead, where it is not None."""

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        given = self.fault(seen)
        return given if given is not None else getattr(self, kind_of(seen).lower())(seen)

    def plan(self, seen: SeenRequest) -> Json:
        """One subtask."""
        return plan(sub("s1", description=f"Count the {counted(seen)}"))

    def plandiagnosis(self, seen: SeenRequest) -> Json:
        """Nothing to object to."""
        return diagnosis()

    def toolchoice(self, seen: SeenRequest) -> Json:
        """A result out of nothing."""
        return finish(f"counted the {counted(seen)}")

    def answerdraft(self, seen: SeenRequest) -> Json:
        """Right once it was told how."""
        return answer("42" if REMEDY in seen.text else "41", [1])

    def trialreflection(self, seen: SeenRequest) -> Json:
        """How to count."""
        return {"comparison": "", "reflection": f"The {counted(seen)} were counted once. Plan: {REMEDY}."}

    def taxonomygrowth(self, seen: SeenRequest) -> Json:
        """One type, once."""
        known = 'name="single_count"' in seen.messages[1][1]
        return {"rationale": "It was counted once.", "new_types": [] if known else [kind("single_count")]}

    def steplabels(self, seen: SeenRequest) -> Json:
        """The first step of a failed trial is to blame."""
        told = seen.messages[1][1]
        steps = [int(number) for number in told.split("# The steps to label")[1].split(",")]
        failed = 'outcome="failed"' in told
        return {"steps": [label(step, *(["single_count"] if failed and step == 1 else [])) for step in steps]}

    def typereflection(self, seen: SeenRequest) -> Json:
        """All cases."""
        cites = re.findall(r'<case trajectory="([^"]+)"', seen.messages[1][1])
        return {"cites": cites, "reflection": f"Counts are taken once and believed. Always {REMEDY}."}

    def mergedreflection(self, seen: SeenRequest) -> Json:
        """The root cause and the remedy."""
        return {"reflection": f"Step 1 counted the {counted(seen)} only once. Next time, {REMEDY}."}

    def roundreflection(self, seen: SeenRequest) -> Json:
        """What a retrospective role would say, if the backbone were asked."""
        return {"reflection": "the backbone's reflection"}
