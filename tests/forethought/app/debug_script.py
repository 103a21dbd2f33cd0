"""A scripted model for the debugger: it runs a task wrongly, finds the error in its own run, and does better
once it is told how."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forethought.prompts.debug_replies import NO_ERROR
from tests.forethought.app.scripted import Script
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

    def steplabels(self, seen: SeenRequest) -> Json:
        """An error in the critical step alone."""
        number = int(re.findall(r"Examine step (\d+)", seen.text)[-1])
        labels = {name: label() for name in ("memory", "reflection", "planning", "action", "system")}
        if number == self.critical_step:
            labels[self.module] = label(self.error_type, self.evidence)
        return labels

    def criticalerror(self, seen: SeenRequest) -> Json:
        """The critical step."""
        effects = [{"step": self.critical_step + 1, "impact": "a wrong answer"}] if self.cascade else []
        return {
            "critical_step": self.critical_step, "critical_module": self.module,
            "error_type": self.error_type,
            "root_cause": "it compared without adding", "evidence": self.evidence,
            "correction_guidance": GUIDANCE,
            "cascading_effects": effects,
        }  # fmt: skip

    def updatedguidance(self, seen: SeenRequest) -> Json:
        """The next guidance."""
        return {"guidance": f"{GUIDANCE} Attempt {seen.text.count('Guidance:')}."}


def label(error_type: str = NO_ERROR, evidence: str = "") -> Json:
    """One module's label."""
    return {"error_type": error_type, "evidence": evidence, "reasoning": "so it is"}


def failed_run(cli: Callable[..., Any], server: ModelServer, *flags: str) -> int:
    """Thread t1, which answers 41; how many requests that took."""
    assert cli("run", "What is 40 + 2?", "--thread", "t1", *flags).code == 0
    return len(server.requests)


def trajectory(key: str = "r1", count: int = 3, **options: Any) -> dict[str, Any]:
    """A recorded run in the validated form."""
    steps = [
        {"number": n, "planning": f"look into drawer {n}", "action": f"open {n}", "observation": f"dust {n}"}
        for n in range(1, count + 1)
    ]
    return {"id": key, "task": "Find the key.", "answer": "no key", "steps": steps, **options}


def write(path: Path, value: Any) -> str:
    """Put `value` into a file, as text or as JSON; its path."""
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)
