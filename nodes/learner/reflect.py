"""reflect: one advice from the failed task (SAMULE 3.2.1).

Micro level: the run against its reference. Meso level: other answers to the same task are shown too. Macro
level: earlier advice about other tasks is shown, and the new advice covers the ones of the same error. SAMULE
asks once for each level and merges; here one call sees all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from langgraph.runtime import Runtime

from forethought.experience.advice import Advice, advice_id, now_utc
from forethought.models.types import Message, ReplyError, Usage, no_usage, reply_spec
from forethought.nodes.learner.services import LearnerServices
from forethought.nodes.synthesizer.leaks import References
from forethought.prompts.learn_replies import AdviceDraft
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import RoundReflection
from forethought.state.learner import LearnerContext, LearnerState
from forethought.text import cut, one_line
from forethought.training.from_synthesis import record_of
from forethought.trajectories.show import condensed_text, task_text, world_text
from forethought.trajectories.types import Trajectory

_INSTEAD_CHARS = 240
_TRY_CHARS = 500
_MOST_KNOWN = 3
Level = Literal["micro", "meso", "macro"]


async def reflect(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Write the advice as a draft. Without a usable reply, the person's words are the advice. Raises
    ModelErrors other than ReplyError."""
    run = Trajectory.model_validate(state["subject"])
    own = await services.own_advice(state)
    cause = state["critical"].get("root_cause", "")
    query = " ".join([run.task, state["correction"], cause])
    found = await services.book.relevant(query, _MOST_KNOWN + 1)
    known = [advice for advice in found if own is None or advice.id != own.id][:_MOST_KNOWN]
    secret = References((state["expect"],) if state.get("expect") else (), run.task)

    def check(reply: AdviceDraft) -> str | None:
        if len(reply.instead) > _INSTEAD_CHARS and not state["correction"]:
            return f"instead has {len(reply.instead)} characters: write at most {_INSTEAD_CHARS}"
        return secret.problem(f"{reply.applies} {reply.instead}")

    reflection, spent = await _retrospect(run, services, services.context(runtime))
    messages = reflect_messages(state, run, known, services.context(runtime), reflection)
    try:
        result = await services.request(runtime, "reflect", messages, AdviceDraft, check)
    except ReplyError as error:
        if not state["correction"]:
            why = f"no valid advice: {error.problem or error}"
            return {"status": "not_found", "problem": why, "usage": {"reflect": error.usage}}
        draft, covers, usage = own or _of(state, _spoken(state, run)), [], error.usage
    else:
        labels = {f"k{number}": advice for number, advice in enumerate(known, 1)}
        covers = [labels[key] for name in result.reply.replaces if (key := name.strip(" []")) in labels]
        draft, usage = _of(state, result.reply, covers, own), result.usage
    return {
        "advice": draft.model_dump(mode="json"),
        # A model's advice takes no person's place.
        "known": [one.id for one in covers if draft.source == "person" or one.source != "person"],
        "past": await _past(state, draft, covers, services, runtime),
        "reruns_left": services.context(runtime).runs,
        "usage": {"reflect": usage, "retrospective": spent},
    }


async def _retrospect(
    run: Trajectory, services: LearnerServices, context: LearnerContext
) -> tuple[str, Usage]:
    """The retrospective model's reflection on the run, asked as it was trained; '' without one."""
    if context.retrospective_model is None:
        return "", no_usage()
    record = record_of(run, task_id="-", background=world_text(run), reflection="-")
    system, user = record.prompt()
    try:
        result = await services.models.ask(
            role="retrospective",
            model=context.retrospective_model,
            messages=[Message("system", system), Message("user", user)],
            reply=reply_spec(RoundReflection),
        )
    except ReplyError as error:
        return "", error.usage
    return result.reply.reflection, result.usage


async def _past(
    state: LearnerState,
    draft: Advice,
    covers: Sequence[Advice],
    services: LearnerServices,
    runtime: Runtime[LearnerContext],
) -> list[dict[str, Any]]:
    """The past tasks on which the advice is tried; none of them is one that a person called wrong."""
    failures = {
        (other.thread, other.number): "kind" if other.id in [one.id for one in covers] else ""
        for other in await services.book.all()
        if other.thread
    }
    failures[state["thread_id"], state["number"]] = ""
    return await services.lab.past(draft.applies, failures, services.context(runtime).past)


def reflect_messages(
    state: LearnerState,
    run: Trajectory,
    known: Sequence[Advice],
    context: LearnerContext,
    reflection: str = "",
) -> list[Message]:
    """The prompt: what never changes first, the correction last."""
    number = state["critical"].get("critical_step")
    steps = [step for step in run.steps if number is None or abs(step.number - number) <= context.window // 2]
    return prompt_messages(
        "learn_reflect",
        task=task_text(run.task),
        run=condensed_text(run.steps, steps[: context.window], context.max_observation_chars),
        critical=state["critical"],
        reflection=reflection,
        tries=[cut(text, _TRY_CHARS) for text in state["tries"]],
        known=[f"{advice.applies} Wrong: {advice.wrong} Instead: {advice.instead}" for advice in known],
        expect=state.get("expect", ""),
        correction=state["correction"],
    )


def _spoken(state: LearnerState, run: Trajectory) -> AdviceDraft:
    """The person's own words as a draft."""
    return AdviceDraft(
        kind="rule", name="correction", applies=one_line(run.task, 400), instead=state["correction"]
    )


def _of(
    state: LearnerState, reply: AdviceDraft, covers: Sequence[Advice] = (), own: Advice | None = None
) -> Advice:
    """The draft as an advice. What a person said stays as it is if somebody else may have written a part of
    the run, and if it was worded before."""
    spoken, outside = bool(state["correction"]), state["outside"]
    instead = state["correction"] if spoken and outside else reply.instead
    level: Level = "macro" if covers else "meso" if state["tries"] else "micro"
    fields: dict[str, Any] = {
        "name": reply.name,
        "kind": reply.kind if not spoken or reply.kind != "error" else "rule",
        "applies": cut(reply.applies, 1_000),
        "wrong": cut(reply.wrong, 1_000),
        "instead": cut(instead, 1_000),
    }
    if own is not None and own.source == "person" and own.instead == state["correction"]:
        said = {"name": own.name, "kind": own.kind, "instead": own.instead}
        fields |= said | ({"applies": own.applies} if own.applies else {})
    return Advice(
        **fields,
        id=own.id if own else advice_id(state["thread_id"], state["number"]),
        failure=cut(reply.failure, 1_000),
        success=cut(reply.success, 1_000),
        source="person" if spoken else "learn",
        level=level,
        thread=state["thread_id"],
        number=state["number"],
        steps=[number] if (number := state["critical"].get("critical_step")) else [],
        origin=", ".join(outside) or "user",
        outside=[] if spoken else outside,
        made=own.made if own else now_utc(),
    )
