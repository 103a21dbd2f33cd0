"""Foresight: what the tool agent expected against what came (SAMULE 3.2.3, Algorithm 2), by rules.

The agent puts in double quotes what must literally occur in the observation; what does not occur deviates. A
deviation cancels `finishes`, so that the agent looks at the observation itself, and judges in its next reply
how serious it is.
"""

from __future__ import annotations

import re
import unicodedata

from graph.state import Surprise
from tools.base import Observation

_QUOTED = re.compile(r'"([^"\n]{1,200})"|“([^”\n]{1,200})”')


def missing_terms(expected: str, text: str) -> list[str]:
    """The quoted terms of `expected` that do not occur in `text`; case, spacing and Unicode form do not
    matter."""
    terms = [first or second for first, second in _QUOTED.findall(expected)]
    plain = _plain(text)
    return [term for term in terms if _plain(term) and _plain(term) not in plain]


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
