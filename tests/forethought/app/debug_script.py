"""A scripted model for the debugger: it runs a task wrongly, finds the error in its own run, and does better
once it is told how."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forethought.app.scripted import Script
from tests.support import debugging as support
from tests.support.debugging import MODULES, asked_step, critical, label
from tests.support.model_server import ModelServer, SeenRequest

Json = dict[str, Any]
Start = Callable[..., tuple["DebugScript", ModelServer]]
"""The fixture `debugging`."""
GUIDANCE = "Add both numbers again before you compare."


@dataclass
class DebugScript(Script):
    """The agent answers 41, and 42 once the guidance stands in its prompt."""

    answer: str = "41"
    cured_by: str = GUIDANCE
    """The guidance that makes the run come out right."""
    critical_step: int = 3
    module: str = "action"
    error_type: str = "parameter_error"
    evidence: str = "both say 42"
    cascade: bool = True
    """Whether the next step suffers from it."""

    def answerdraft(self, seen: SeenRequest) -> Json:
        """The right answer only with the guidance."""
        return {**super().answerdraft(seen), **({"answer": "42"} if self.cured_by in seen.text else {})}

    def triage(self, seen: SeenRequest) -> Json:
        """The critical step alone."""
        return {"suspects": [{"reason": "it may be", "step": self.critical_step}]}

    def steplabels(self, seen: SeenRequest) -> Json:
        """An error in the critical step alone."""
        found = {name: label() for name in MODULES}
        if asked_step(seen) == self.critical_step:
            found[self.module] = label(self.error_type, self.evidence)
        return found

    def criticalerror(self, seen: SeenRequest) -> Json:
        """The critical step."""
        effects = [{"step": self.critical_step + 1, "impact": "a wrong answer"}] if self.cascade else []
        attempts = seen.text.count("Guidance:")
        guidance = f"{GUIDANCE} Attempt {attempts}." if attempts else GUIDANCE
        more = {"evidence": self.evidence, "correction_guidance": guidance, "cascading_effects": effects}
        return critical(self.critical_step, self.module, self.error_type, **more)


def failed_run(cli: Callable[..., Any], server: ModelServer, *flags: str) -> int:
    """Thread t1, which answers 41; how many requests that took."""
    assert cli("run", "What is 40 + 2?", "--thread", "t1", *flags).code == 0
    return len(server.requests)


def trajectory(key: str = "r1", count: int = 3, **options: Any) -> Json:
    """A recorded run in the validated form."""
    return support.trajectory(count, id=key, **options).model_dump(mode="json")


def write(path: Path, value: Any) -> str:
    """Put `value` into a file, as text or as JSON; its path."""
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)
