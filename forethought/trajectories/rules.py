"""System errors that need no model: what the source records of a step, or what its observation says plainly.

A rule names the module `system` of the taxonomy (AgentDebug, Table 2) and nothing else. Where the words could
also be a page's, a person's or those of the agent's own code (a traceback), no rule speaks and the model
judges.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from forethought.trajectories.types import Trajectory, TrajectoryStep

SHORT_NOTICE = 400
"""Characters that a notice of failure has at most; what is longer is content that may speak of failures."""

_LLM = re.compile(
    r"context[_ ]length[_ ]exceeded|maximum context length|rate limit (?:reached|exceeded)"
    r"|(?:llm|model|completion|openai|anthropic)\b[^.\n]{0,40}\b(?:timed out|timeout|overloaded)"
    r"|(?:reply|response|completion) (?:was )?(?:cut off|truncated) [^.\n]{0,40}\b(?:tokens?|length)\b"
    r"|finish_reason\W{1,4}length\b",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(
    r"\b(?:environment|simulator|simulation|browser|game) (?:has |was )?"
    r"(?:crashed|died|disconnected|terminated unexpectedly|timed out)\b"
    r"|\bconnection to the (?:environment|simulator|server) (?:was )?lost\b",
    re.IGNORECASE,
)
_TOOL = re.compile(
    r"^(?:(?:http (?:error )?|status code:? ?)5\d\d\b"
    r"|5\d\d (?:internal server error|bad gateway|service unavailable|gateway time-?out)"
    r"|(?:tool|api) (?:execution )?(?:error|failed|failure)\b"
    r"|error (?:executing|calling|running) (?:the )?tool\b"
    r"|(?:connection|read|request) (?:error|timed out|timeout|refused)\b)",
    re.IGNORECASE,
)
_TEXTS = (("llm_limit", _LLM), ("environment_error", _ENVIRONMENT), ("tool_execution_error", _TOOL))


@dataclass(frozen=True)
class SystemLabel:
    """A system error, the words that show it (or '' where the source only records it), and why."""

    error_type: str
    evidence: str
    reasoning: str


def system_label(trajectory: Trajectory, step: TrajectoryStep) -> SystemLabel | None:
    """The system error of `step`, or None where no rule suffices.

    A halted run's last step is its step limit, whatever else it met: that is what ended it.
    """
    if trajectory.halted and trajectory.steps and step.number == trajectory.steps[-1].number:
        return SystemLabel("step_limit", "", f"The run was halted by its limit after step {step.number}.")
    text = step.observation.strip()
    if step.failure:
        return SystemLabel(step.failure, _first_line(text), "The source records this failure of the step.")
    if len(text) > SHORT_NOTICE:
        return None
    for error_type, pattern in _TEXTS:
        if found := pattern.search(text):
            evidence = _first_line(text[found.start() :])
            return SystemLabel(error_type, evidence, "The observation says so in plain words.")
    return None


def _first_line(text: str) -> str:
    """The first line of `text`, at most 200 characters of it."""
    return text[:200].split("\n", 1)[0].strip()
