"""What the writer is asked for, and what of its reply is sent back.

Where the answer is scored it names findings and defects (MIRROR 3.4). Not in the papers: in auto and low it
begins with checks of what could be wrong, and says what work is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from forethought.models.types import ReplySpec, reply_spec, without
from forethought.nodes.support.intra_reflection import unscored_spec
from forethought.prompts.replies import AnswerCheck, AnswerDraft, Check, ForeseeingAnswer
from forethought.state.context import Context
from forethought.text import one_line

_CHECK_CHARS = 300


def checks_answer(context: Context) -> bool:
    """Whether the answer comes with checks; else with findings, and where it is scored with defects."""
    return context.effort != "paper" and context.answer_checks and not context.wants("answer_intra")


def answer_spec(context: Context, *, mends: bool, advised: bool = False) -> ReplySpec[AnswerDraft]:
    """The spec of an answer.

    Args:
        context: The run's choices.
        mends: Whether the work that the checks find missing can still be done.
        advised: Whether the prompt shows advice.

    Returns:
        The fields that are asked for, and their checks.
    """
    whole = ForeseeingAnswer if context.foresees_user else AnswerDraft
    unasked = [] if advised else ["advice"]
    if checks_answer(context):
        unasked += ["findings", *([] if mends else ["work"])]
        return without(unscored_spec(whole, "AnswerDraft"), *unasked)
    make = reply_spec if context.wants("answer_intra") else unscored_spec
    return without(make(whole, "AnswerDraft"), "checks", "work", *unasked)


def will_stand(context: Context, *, mends: bool) -> Callable[[Mapping[str, Any]], bool]:
    """What tells, from the fields of a reply that came before its answer, whether this will be the task's:
    no defect can be named after it, and its checks find nothing to do first."""
    if not checks_answer(context):
        return lambda reply: not context.wants("answer_intra")

    def stands(reply: Mapping[str, Any]) -> bool:
        try:
            checks = [Check.model_validate(check) for check in reply["checks"]]
        except (KeyError, TypeError, ValueError):
            return False
        return not (mends and any(check.ok == "no" for check in checks))

    return stands


def unmet_text(reply: AnswerDraft | AnswerCheck) -> str:
    """The checks that were not met, a line each."""
    return "\n".join(
        one_line(": ".join(filter(None, ("not met", check.about, check.done))), _CHECK_CHARS)
        for check in reply.checks
        if check.ok == "no"
    )
