"""rerun, replay and judge: whether the advice prevents the error, and whether it breaks sound plans.

The critical decision is made again with the advice and without it (AgentDebug 3.2, stage 3, with a control).
Plans of past tasks are made again with it (PreFlect's question: does it prevent errors before execution?).
Nothing is carried out. One judge sees all decisions in an order that does not tell which had the advice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.experience.advice import Advice, advice_id
from forethought.models.allowance import total
from forethought.models.types import Message, ReplyError
from forethought.nodes.debugger.rerun import restart_module
from forethought.nodes.learner.services import LearnerServices, calls_left
from forethought.prompts.debug_replies import AssertionVerdicts, check_numbers
from forethought.prompts.render import prompt_messages
from forethought.rollouts.types import RolloutError
from forethought.state.learner import LearnerContext, LearnerState, Trial, Verdict
from forethought.text import cut
from forethought.trajectories.show import task_text
from forethought.trajectories.types import Module, Trajectory

_CASE_CHARS = 4_000


async def rerun(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Make the decision again once with the advice and once without it. Raises ModelErrors."""
    context, advice = services.context(runtime), Advice.model_validate(state["advice"])
    module, step = _decision(state)
    runtime.stream_writer({"event": "thinking", "role": "re-run", "about": advice.name})
    thread, number = state["thread_id"], state["number"]
    if calls_left(state, context) < 3:  # two re-runs and their judge
        return {"reruns_left": 0, "notes": [f"fewer re-runs than asked for: {context.max_calls} calls"]}
    try:
        decisions = await asyncio.gather(
            *(
                services.lab.decide(thread, number, module, step, guidance)
                for guidance in (advice.instead, "")
            )
        )
    except RolloutError as error:
        return {"reruns_left": 0, "notes": [f"no re-run: {error}"]}
    task = state["subject"]["task"]
    trials = [
        Trial(of="failure", guided=guided, thread=thread, task=task, measure="", text=decision.text, number=0)
        for guided, decision in zip((True, False), decisions, strict=True)
    ]
    left = state["reruns_left"] - 1
    usage = total(*(decision.usage for decision in decisions))
    return {"trials": trials, "reruns_left": left, "usage": {"rerun": usage}}


def _decision(state: LearnerState) -> tuple[Module, int]:
    """The module whose decision is made again, and its step: of an unknown step, the plan (step 0)."""
    critical = state["critical"]
    if not critical:
        return "planning", 0
    run = Trajectory.model_validate(state["subject"])
    return restart_module(critical, run), critical["critical_step"]


async def replay(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Make the plan of the next past task with the advice. Raises ModelErrors."""
    context, advice = services.context(runtime), Advice.model_validate(state["advice"])
    if not state["past"]:
        return {}
    past, *rest = state["past"]
    if calls_left(state, context) < 2:  # this one and the judge
        return {"past": [], "notes": [f"fewer past tasks than asked for: {context.max_calls} calls"]}
    runtime.stream_writer({"event": "thinking", "role": "replay", "about": past["thread"]})
    try:
        decision = await services.lab.decide(past["thread"], past["number"], "planning", 0, advice.instead)
    except RolloutError as error:
        return {"past": rest, "notes": [f"a past task is left out: {error}"]}
    trial = Trial(
        of=past["of"],
        guided=True,
        thread=past["thread"],
        task=past["task"],
        measure=past["measure"],
        text=decision.text,
        number=0,
    )
    return {"past": rest, "trials": [trial], "usage": {"replay": decision.usage}}


async def judge(
    state: LearnerState, runtime: Runtime[LearnerContext], *, services: LearnerServices
) -> dict[str, Any]:
    """Judge all decisions at once. Without a usable reply none is judged. Raises the other ModelErrors."""
    trials = shuffled(state)
    if not trials:
        return {"verdicts": []}
    advice, said = Advice.model_validate(state["advice"]), state["correction"]
    wrong = "\n".join(
        filter(None, (said, f"The right answer: {state['expect']}" if state.get("expect") else ""))
    )
    messages = judge_messages(trials, wrong or f"Wrong: {advice.wrong}\nRight: {advice.instead}")
    try:
        result = await services.request(
            runtime, "judge", messages, AssertionVerdicts, lambda reply: check_numbers(reply, len(trials))
        )
    except ReplyError as error:
        why = f"the re-runs were not judged: {error.problem or error}"
        return {"verdicts": [], "notes": [why], "usage": {"judge": error.usage}}
    verdicts = [
        Verdict(number=one.number, right=one.holds, reason=one.reasoning) for one in result.reply.verdicts
    ]
    return {"verdicts": verdicts, "usage": {"judge": result.usage}}


def shuffled(state: LearnerState) -> list[Trial]:
    """The trials, numbered from 1 as the judge sees them: task by task, each in an order by a hash."""
    trials = state.get("trials", [])
    places = {(one["of"], one["thread"]): at for at, one in reversed(list(enumerate(trials)))}
    order = sorted(
        range(len(trials)),
        key=lambda at: (
            places[trials[at]["of"], trials[at]["thread"]],
            advice_id(state["thread_id"], state["number"], at),
        ),
    )
    return [{**trials[at], "number": number} for number, at in enumerate(order, 1)]


def judge_messages(trials: Sequence[Trial], correction: str) -> list[Message]:
    """The judge's prompt. A failure is measured by the correction, a success by its earlier plan."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for trial in trials:
        succeeded = trial["of"] == "success"
        group = groups.setdefault(
            (trial["of"], trial["thread"]),
            {
                "task": task_text(trial["task"]),
                "kind": "earlier plan" if succeeded else "correction",
                "measure": cut(trial["measure"] if succeeded else correction, _CASE_CHARS),
                "cases": [],
            },
        )
        group["cases"].append({"number": trial["number"], "text": cut(trial["text"], _CASE_CHARS)})
    return prompt_messages("learn_judge", tasks=list(groups.values()))
