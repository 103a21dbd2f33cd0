"""Intra-reflection (MIRROR 3.4): ask, let the author score its reply, and revise it while it is too low.

Departure from MIRROR: revisions are bounded, and the best-scored reply stands when they are used up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from forethought.models.allowance import Allowance, total
from forethought.models.types import Message, ReplySpec, Usage, no_usage, reply_spec
from forethought.nodes.support.services import Turn
from forethought.prompts.render import render


class Scored(Protocol):
    """A reply that its author has scored."""

    score: int
    evaluation: str


S = TypeVar("S", bound=Scored)
M = TypeVar("M", bound=BaseModel)
_OWN = ("evaluation", "score")
"""What an author says of its own reply."""


def unscored_spec(scored: type[M], name: str | None = None) -> ReplySpec[M]:
    """The spec of a reply that its author neither criticises nor scores: it has the best score."""
    spec = reply_spec(scored, name)
    schema = {
        **spec.schema,
        "properties": {key: value for key, value in spec.schema["properties"].items() if key not in _OWN},
        "required": [key for key in spec.schema["required"] if key not in _OWN],
    }

    def parse(value: Any) -> M:
        return spec.parse({**value, "evaluation": "", "score": 10} if isinstance(value, dict) else value)

    return ReplySpec(spec.name, schema, parse, strict=spec.strict)


@dataclass
class Revised(Generic[S]):
    """The replies of a turn, and what they cost together."""

    best: S | None = None
    rejected: list[S] = field(default_factory=list)
    """Those that scored too low, the best of them included."""
    usage: Usage = field(default_factory=no_usage)
    revisions: int = 0
    problem: str = ""
    """Why the last question got no valid reply; '' if it got one."""


async def revise_until(
    turn: Turn,
    role: str,
    messages: Sequence[Message],
    spec: ReplySpec[S],
    allowed: Allowance,
    *,
    check: Callable[[S], str | None],
    threshold: int | None,
    may_revise: Callable[[Usage], bool],
    event: Mapping[str, Any] | None = None,
) -> Revised[S]:
    """Ask `role` until a reply scores `threshold` (None: any reply passes), at most 1 + max_revisions times.

    The template ROLE_revise asks for a revision; `may_revise` tells from what the turn has cost whether
    another call can be paid. `spec`, `allowed`, `check` and `event` are as in `Turn.ask`.
    """
    revised: Revised[S] = Revised()
    while True:
        details = {**(event or {}), "revision": revised.revisions}
        result = await turn.ask(role, messages, spec, allowed, check=check, event=details)
        revised.usage = total(revised.usage, result.usage)
        if (reply := result.reply) is None:
            revised.problem = result.problem
            return revised
        passed = threshold is None or reply.score >= threshold
        if passed or revised.best is None or reply.score >= revised.best.score:
            revised.best = reply
        if not passed:
            revised.rejected.append(reply)
        if passed or revised.revisions >= turn.context.max_revisions or not may_revise(revised.usage):
            return revised
        revised.revisions += 1
        verdict = {"score": reply.score, "threshold": threshold, "evaluation": reply.evaluation}
        _, text = render(f"{role}_revise", **verdict)
        messages = [*messages, Message("assistant", result.text), Message("user", text)]
