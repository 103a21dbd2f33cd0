"""Foresight: what was expected against what came (SAMULE 3.2.3, Algorithm 2), by rules.

The agent puts in double quotes what must literally occur in the observation; what does not occur deviates. A
deviation cancels `finishes`, so that the agent looks at the observation itself, and judges in its next reply
how serious it is. A tool whose answers had one format and now have another deviates seriously. What rules
cannot tell a model can be asked (nodes/support/judgement.py).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from forethought.models.types import Usage, no_usage
from forethought.nodes.support.shapes import changed
from forethought.state.agent import Deviation, Proposal, Surprise
from forethought.tools.base import Observation

_QUOTED = re.compile(r'"([^"\n]{1,200})"|“([^”\n]{1,200})”')


@dataclass(frozen=True)
class Finding:
    """What a comparison came to."""

    surprise: Surprise = "none"
    note: str = ""
    """For the step's observation; '' if there is nothing to note."""
    reflection: str = ""
    """Where the deviation is significant; '' else."""
    replan: bool = False
    by: Literal["rules", "model"] = "rules"
    usage: Usage = field(default_factory=no_usage)

    def deviation(self, proposal: Proposal) -> Deviation | None:
        """The step's record of a significant deviation."""
        if not self.reflection:
            return None
        return {
            "by": self.by,
            "difference": self.note,
            "reflection": self.reflection,
            "replan": self.replan,
            "before": proposal["surprise"],
        }


def quoted_terms(expected: str) -> list[str]:
    """What `expected` has in double quotes."""
    return [term for pair in _QUOTED.findall(expected) if (term := pair[0] or pair[1]).strip()]


def missing_terms(expected: str, text: str) -> list[str]:
    """The quoted terms of `expected` that do not occur in `text`; case, spacing and Unicode form do not
    matter."""
    plain = _plain(text)
    return [term for term in quoted_terms(expected) if _plain(term) and _plain(term) not in plain]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def compare(expected: str, observation: Observation) -> tuple[Surprise, str]:
    """The surprise that rules can tell, and a note on it for the step ('' if there is none)."""
    if not observation.ok:
        return "minor", ""
    missing = missing_terms(expected, observation.text)
    if missing:
        return "minor", f"Expected, but not in what came: {', '.join(repr(term) for term in missing)}."
    return "none", ""


def by_rules(expected: str, observation: Observation, earlier: Sequence[str]) -> Finding:
    """What rules find; `earlier` are the same tool's earlier answers, oldest first."""
    surprise, note = compare(expected, observation)
    difference = changed(earlier, observation.text) if observation.ok else ""
    if not difference:
        return Finding(surprise, note)
    reflection = (
        f"{difference[0].upper()}{difference[1:]}. Do not read it as before: find out what its parts mean "
        "now, and whether what was concluded from earlier answers still holds."
    )
    return Finding("serious", " ".join(filter(None, (note, f"Not as before: {difference}."))), reflection)


def as_expected(expected: str, said: str) -> bool:
    """Whether a person said what was expected, as far as rules can tell: the same words, or every quoted
    term.

    False means that it takes a model to tell.
    """
    terms = quoted_terms(expected)
    alike = _plain(expected).strip(" .!\"'") == _plain(said).strip(" .!\"'")
    return alike or (bool(terms) and not missing_terms(expected, said))
