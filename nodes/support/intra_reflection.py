"""Intra-reflection (MIRROR 3.4): ask, let the author criticise its reply, and revise it while it is too weak.

Departures from MIRROR: the author names defects, each with its evidence, and the score follows from them,
since a model that scores itself soon gives the score that passes; revisions are bounded, and the best reply
stands when they are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from forethought.models.allowance import Allowance, total
from forethought.models.types import (
    Listener,
    Message,
    ModelError,
    ReplySpec,
    Usage,
    no_usage,
    reply_spec,
    without,
)
from forethought.nodes.support.services import Turn
from forethought.prompts.render import render
from forethought.prompts.replies import AnswerDefect, Defect

_SCORES = {"wrong": (4, 1), "risky": (8, 5), "slight": (9, 9)}
"""The score of a reply by its gravest defect's effect, and the least that more of them make of it."""
_FIRST = ("facts", "now", "later", "never")
"""Of several ways to mend, the one that comes first is due first."""


class Evaluated(Protocol):
    """A reply whose author has named what is wrong with it."""

    @property
    def defects(self) -> Sequence[Defect | AnswerDefect]:
        """What is wrong with it."""
        ...


S = TypeVar("S", bound=Evaluated)
M = TypeVar("M", bound=BaseModel)


def score_of(reply: Evaluated) -> int:
    """1 to 10: 10 without defects, else by the gravest effect, one less for each further defect of it."""
    effects = [_effect(defect) for defect in reply.defects]
    for effect, (highest, least) in _SCORES.items():
        if count := effects.count(effect):
            return max(highest + 1 - count, least)
    return 10


def evaluation_of(reply: Evaluated) -> str:
    """The defects, a line each."""
    return "\n".join(
        f"{defect.effect} (mend: {defect.mend}): {defect.defect} Evidence: {defect.evidence}"
        for defect in reply.defects
    )


def remedy_of(reply: Evaluated) -> str:
    """How the gravest defects are mended: facts, now, later or never; '' without any."""
    effects = [_effect(defect) for defect in reply.defects]
    gravest = next((effect for effect in _SCORES if effect in effects), "")
    ways = [defect.mend for defect, effect in zip(reply.defects, effects, strict=True) if effect == gravest]
    return next((way for way in _FIRST if way in ways), "")


def _effect(defect: Defect | AnswerDefect) -> str:
    """What about a plan or a move can only be mended when more is known is no reason to hold it back."""
    return "slight" if defect.mend == "later" else defect.effect


def _content(reply: Evaluated) -> dict[str, Any]:
    """What of a reply is more than its author's thoughts about it."""
    assert isinstance(reply, BaseModel)
    return reply.model_dump(exclude={"thought", "defects"})


def unscored_spec(evaluated: type[M], name: str | None = None) -> ReplySpec[M]:
    """The spec of a reply that its author does not criticise: no defect is named, and it has the best
    score."""
    spec = reply_spec(evaluated, name)

    def parse(value: Any) -> M:
        return spec.parse({**value, "defects": []} if isinstance(value, dict) else value)

    return replace(without(spec, "defects"), parse=parse)


@dataclass
class Revised(Generic[S]):
    """The replies of a turn, and what they cost together."""

    best: S | None = None
    last: S | None = None
    rejected: list[S] = field(default_factory=list)
    """Those that scored too low, including the best of them."""
    first: Usage = field(default_factory=no_usage)
    """What the first reply cost."""
    revising: Usage = field(default_factory=no_usage)
    """What the revisions cost; `changed` if the best reply is one of them and says something else."""
    revisions: int = 0
    problem: str = ""
    """Why the last request got no valid reply; '' if it got one."""
    error: ModelError | None = None

    @property
    def usage(self) -> Usage:
        """What all replies cost."""
        return total(self.first, self.revising)

    def booked(self, role: str, mechanism: str) -> dict[str, Usage]:
        """The update of `usage`: the first reply is the role's, the revisions are the mechanism's."""
        return {role: self.first, **({mechanism: self.revising} if self.revisions else {})}


async def revise_until(
    turn: Turn,
    role: str,
    messages: Sequence[Message],
    spec: ReplySpec[S],
    allowed: Allowance,
    *,
    check: Callable[[S], str | None] | None = None,
    threshold: int | None,
    may_revise: Callable[[Usage], bool],
    event: Mapping[str, Any] | None = None,
    listener: Listener | None = None,
) -> Revised[S]:
    """Ask `role` until a reply scores `threshold` (None: any reply passes) or its author cannot mend it now,
    at most 1 + max_revisions times.

    The template ROLE_revise asks for a revision; `may_revise` tells from what the turn has cost whether
    another call can be paid. `spec`, `allowed`, `check`, `event` and `listener` are as in `Turn.ask`.
    """
    revised: Revised[S] = Revised()
    while True:
        details = {**(event or {}), "revision": revised.revisions}
        result = await turn.ask(role, messages, spec, allowed, check=check, event=details, listener=listener)
        if revised.revisions:
            revised.revising = total(revised.revising, result.usage)
        else:
            revised.first = result.usage
        if (reply := result.reply) is None:
            revised.problem, revised.error = result.problem, result.error
            return revised
        score, revised.last = score_of(reply), reply
        passed = threshold is None or score >= threshold
        if passed or revised.best is None or score >= score_of(revised.best):
            revised.best = reply
            if revised.rejected and _content(reply) != _content(revised.rejected[0]):
                revised.revising["changed"] = 1
        if passed:
            return revised
        revised.rejected.append(reply)
        used_up = revised.revisions >= turn.context.max_revisions or not may_revise(revised.usage)
        if used_up or remedy_of(reply) != "now":
            return revised
        revised.revisions += 1
        _, text = render(f"{role}_revise", score=score, threshold=threshold, evaluation=evaluation_of(reply))
        messages = [*messages, Message("assistant", result.text), Message("user", text)]
