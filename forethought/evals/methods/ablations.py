"""Our agent without each of its mechanisms: what each paper's ablation switches off, as fields of Context.

NAME is taken from REFERENCE, in which every mechanism runs, and ours-NAME from ours; no-first-look, no-signs
and no-checks, which are in no paper, are taken from ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

REFERENCE = "ours-paper"
"""Our agent with every mechanism as in its paper."""
OURS = "ours"


@dataclass(frozen=True)
class Ablation:
    """A mechanism that is off."""

    about: str
    """What is off, with the paper's table."""
    switches: Mapping[str, Any] = field(default_factory=dict)
    base: str = REFERENCE
    """The method that it changes and is compared with."""


_OF_PAPERS: Mapping[str, Ablation] = {
    "no-prospective-reflection": Ablation(
        "without prospective reflection (PreFlect 3.2.2)", {"prospective_reflection": False}
    ),
    "no-planning-errors": Ablation(
        "without distilled planning errors (PreFlect 4.6, w/o PE)",
        {"planning_errors": False},
    ),
    "no-replanning": Ablation("without replanning (PreFlect 4.6, w/o DRP)", {"replanning": False}),
    "no-plan-intra": Ablation(
        "without the planner's intra-reflection (MIRROR table 3)", {"plan_intra": False}
    ),
    "no-tool-intra": Ablation(
        "without the tool agent's intra-reflection (MIRROR table 3)", {"tool_intra": False}
    ),
    "no-answer-intra": Ablation(
        "without the answer agent's intra-reflection (MIRROR table 3)", {"answer_intra": False}
    ),
    "no-intra": Ablation(
        "without any intra-reflection (MIRROR table 3, w/o Intra.)",
        {"plan_intra": False, "tool_intra": False, "answer_intra": False},
    ),
    "no-short-term": Ablation("without short-term memory (MIRROR table 3)", {"short_term_memory": False}),
    "no-long-term": Ablation("without long-term memory (MIRROR table 3)", {"long_term_memory": False}),
    "no-inter": Ablation(
        "without inter-reflection: neither memory (MIRROR table 3, w/o Inter.)",
        {"short_term_memory": False, "long_term_memory": False},
    ),
    "no-foresight": Ablation("without foresight (SAMULE 3.2.3)", {"foresight": "off"}),
}
ABLATIONS: Mapping[str, Ablation] = {
    **_OF_PAPERS,
    **{f"ours-{name}": replace(off, base=OURS) for name, off in _OF_PAPERS.items()},
    "no-first-look": Ablation("without the first look at files", {"first_look": False}, OURS),
    "no-signs": Ablation("without signs", {"signs": False}, OURS),
    "no-checks": Ablation(
        "without checks or scores of the answer", {"answer_checks": False, "answer_intra": False}, OURS
    ),
}
