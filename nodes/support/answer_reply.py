"""What the writer is asked for, and what of its reply is sent back.

Where the answer is scored it names findings and defects (MIRROR 3.4). Not in the papers: in auto and low it
begins with checks, so that no sign and no condition is passed by, and says what work is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.nodes.support.sign_verdicts import sign_lines
from forethought.prompts.replies import AnswerCheck, AnswerDraft, Check, ForeseeingAnswer
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.text import one_line

_CHECK_CHARS = 300


def checks_answer(context: Context) -> bool:
    """Whether the answer comes with checks; else with findings, and where it is scored with defects."""
    return context.effort != "paper" and context.answer_checks and not context.wants("answer_intra")


def answer_spec(context: Context, *, mends: bool) -> ReplySpec[AnswerDraft]:
    """The spec of an answer. `mends`: the work that its checks find missing can still be done."""
    whole = ForeseeingAnswer if context.foresees_user else AnswerDraft
    if checks_answer(context):
        return without(unscored_spec(whole, "AnswerDraft"), "findings", *([] if mends else ["work"]))
    make = reply_spec if context.wants("answer_intra") else unscored_spec
    return without(make(whole, "AnswerDraft"), "checks", "work")


def answer_checker(state: AgentState, context: Context) -> Callable[[AnswerDraft], str | None]:
    """What tells why an answer is sent back, or None. Signs that no check is about are named once: then the
    answer is worth more than the list."""
    due = set(sign_lines(state)) if checks_answer(context) else set[str]()

    def check(reply: AnswerDraft) -> str | None:
        missing = sorted(_unchecked(due, reply.checks), key=lambda number: int(number[1:]))
        due.clear()
        return (
            (f"no check is about {', '.join(missing)}: add one, with the sign's number as `about`")
            if missing
            else None
        )

    return check


def _unchecked(signs: set[str], checks: Iterable[Check]) -> set[str]:
    return signs - set(re.findall(r"\bS\d+\b", " ".join(check.about for check in checks)))


def will_stand(state: AgentState, context: Context, *, mends: bool) -> Callable[[Mapping[str, Any]], bool]:
    """What tells, from the fields of a reply that came before its answer, whether this will be the task's:
    no defect can be named after it, and its checks find nothing to do first."""
    if not checks_answer(context):
        return lambda reply: not context.wants("answer_intra")
    due = set(sign_lines(state))

    def stands(reply: Mapping[str, Any]) -> bool:
        try:
            checks = [Check.model_validate(check) for check in reply["checks"]]
        except (KeyError, TypeError, ValueError):
            return False
        return not _unchecked(due, checks) and not (mends and any(check.ok == "no" for check in checks))

    return stands


def unmet_text(reply: AnswerDraft | AnswerCheck) -> str:
    """The checks that were not met, a line each."""
    return "\n".join(
        one_line(": ".join(filter(None, ("not met", check.about, check.done))), _CHECK_CHARS)
        for check in reply.checks
        if check.ok == "no"
    )
