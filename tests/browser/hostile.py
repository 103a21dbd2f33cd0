"""A run in which every text attacks the page that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from forethought.state.experience import ShownAdvice
from tests.forethought.app.scripted import Script, choice, own_subtask
from tests.support.model_server import SeenRequest
from tests.support.sample_state import step

Json = dict[str, Any]
MARK = "pwned"
"""What every attack would set on `window`, were it carried out."""
ATTACKS = (
    f"<script>window.{MARK}=1</script>",
    f'"><img src=x onerror="window.{MARK}=1">',
    f"'-window.{MARK}=1-'",
    f"<svg/onload=window.{MARK}=1>",
    f'</pre></details></main><a href="javascript:window.{MARK}=1">click</a>',
    f"[click](javascript:window.{MARK}=1)",
    f"[click](data:text/html,<script>window.{MARK}=1</script>)",
    "<iframe src=//evil.example></iframe>",
    "<style>*{display:none}</style>",
    '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
    "![x](https://evil.example/pixel.png)",
    "{{ 7 * 7 }}{% raw %}",
    "\u202emoc.live\u202c a\u200bb\u2066c\u2069",
    "\x1b[31mred\x1b[0m\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "\x00\x08\ufeff",
)
THREAD = f'"><img src=x onerror="window.{MARK}=1">\u202e'
"""Id of a thread, which no command takes but a database may hold."""
LONG_WORD = "w" * 3_000
HOSTILE = " ".join(ATTACKS)
HIDDEN = "\u202e\u202c\u200b\u2066\u2069\x1b\x00\x08\ufeff"
"""Characters that no page may hold."""


@dataclass
class HostileScript(Script):
    """A model that writes attacks, and asks the person with some."""

    task: ClassVar[str] = f"What is this? {HOSTILE}"
    answer: str = HOSTILE
    question: str = f"Which colour? {HOSTILE}"

    def plandiagnosis(self, seen: SeenRequest) -> Json:
        """An error once."""
        self.diagnoses += 1
        error = {"error_type": "insufficient_constraint_verification", "evidence": HOSTILE, "risk": HOSTILE}
        return {"situation": HOSTILE, "tool_notes": HOSTILE, "errors": [error] * (self.diagnoses == 1)}

    def planrevision(self, seen: SeenRequest) -> Json:
        """The plan with attacks in its descriptions."""
        subtasks = [{**one, "expected": HOSTILE} for one in self.plan(seen)["subtasks"]]
        subtasks[-1]["description"] = f"Compare both {HOSTILE} {LONG_WORD}"
        return {"subtasks": subtasks, "changes": HOSTILE}

    def toolchoice(self, seen: SeenRequest) -> Json:
        """A question with attacks among its choices; a result made of attacks."""
        if "Find out the colour" in own_subtask(seen):
            arguments = {"question": self.question, "choices": [ATTACKS[0], ATTACKS[1], "red"]}
            return choice("call", tool="ask_user", arguments=arguments, thought=HOSTILE, expected=HOSTILE)
        code = f"print({HOSTILE + LONG_WORD!r})"
        return choice("call", tool="python", arguments={"code": code}, thought=HOSTILE, expected=HOSTILE)


def hostile_state() -> Json:
    """What no model writes: names of files and tools, errors, reasons, memories."""
    failure = {"n": 1, "subtask": HOSTILE, "tool": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "cause": HOSTILE,
               "action": "call", "error": HOSTILE}  # fmt: skip
    steps = [
        step(n, "join", task=1, round=1, plan_version=1, tool=HOSTILE, arguments={HOSTILE: HOSTILE},
             ok=n == 11, observation=f"{HOSTILE}\n{LONG_WORD}", note=HOSTILE,
             origin=HOSTILE, evaluation=HOSTILE,
             thought=HOSTILE, expected=HOSTILE, cause="" if n == 11 else "tool", shown=[HOSTILE],
             foresight={"by": "model", "difference": HOSTILE, "reflection": HOSTILE, "replan": True,
                        "before": "serious"})
        for n in (11, 12)
    ]  # fmt: skip
    return {
        "task": HOSTILE,
        "status": "answered",
        "files": [{"name": HOSTILE, "hash": "0" * 64, "size": 3, "type": HOSTILE}],
        "guidance": [HOSTILE],
        "trajectory": steps,
        "replans": [{"n": 11, "reason": HOSTILE, "forced": False, "kind": HOSTILE, "task": 1}],
        "skipped": [{"task": 1, "round": 1, "n": 1, "mechanism": HOSTILE, "why": HOSTILE}],
        "sources": [{"n": 11, "subtask": HOSTILE, "tool": HOSTILE, "origin": HOSTILE}],
        "short_term": {"join": {"rejected": [], "failures": [failure]}},
        "long_term": {
            "1": {"round": 1, "plan": [], "steps": [11], "failures": {"11": failure}, "errors": [],
                  "answer": HOSTILE, "evaluation": HOSTILE, "score": 2, "reflection": HOSTILE}
        },
        "experience": {
            "shown": [{**dict.fromkeys(ShownAdvice.__annotations__, HOSTILE), "kind": "rule"}],
            "applied": [HOSTILE],
        },
    }  # fmt: skip
