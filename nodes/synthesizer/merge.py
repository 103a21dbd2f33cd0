"""The merge: one final reflection a failed trial, from what all levels have said of it (SAMULE 3.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.models.types import ReplyError, reply_spec
from forethought.nodes.distiller.runs import said
from forethought.nodes.support.reading import read_state
from forethought.nodes.synthesizer.labels import error_path
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.messages import merge_messages
from forethought.nodes.synthesizer.services import SynthesizeServices
from forethought.prompts.synthesize_replies import MergedReflection
from forethought.state.bounds import exhausted
from forethought.state.synthesizer_context import SynthesizerContext
from forethought.state.synthesizer_state import Job, KeyDispatch, SynthesizerState

READS = ("tasks", "trials", "reflections", "labels", "error_reflections", "references")


async def merge_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which trials' reflections are merged next, without a model call; with none left, the end."""
    context = services.context(runtime)
    done, problems = state.get("merged", {}), state.get("problems", {})
    failed = [key for key in state["pool"] if state["trials"][key]["outcome"] == "failure"]
    left = [key for key in failed if key not in done and f"merge_reflections {key}" not in problems]
    bare = [key for key in left if not (state.get("reflections", {}).get(key) or error_path(state, key))]
    nothing = {f"merge_reflections {key}": "no level said anything of it" for key in bare}
    left = [key for key in left if key not in bare]
    if left and (why := exhausted(state, context)):
        problem = f"{why}, and {len(left)} trials have no final reflection; raise it"
        return {"wave": [], "problems": nothing, "status": "stopped", "problem": problem}
    wave = [Job(node="merge_reflections", key=key) for key in left[: context.max_parallel]]
    update: dict[str, Any] = {"wave": wave, "problems": nothing}
    if left:
        return update
    if done:
        return {**update, "status": "synthesized", "problem": ""}
    why = f"{len(failed)} trials failed, and no usable reflection on them came; see problems"
    return {**update, "status": "no_reflections", "problem": why}


async def merge_reflections(
    dispatch: KeyDispatch,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """The final reflection on one failed trial; where no usable one came, why. Raises the other
    ModelErrors."""
    context, key = services.context(runtime), dispatch["key"]
    state = cast(SynthesizerState, read_state(config, READS))
    trial, path = state["trials"][key], error_path(state, key)
    task = state["tasks"][trial["task"]]
    trajectory = await services.kept(trial["stored"])
    shown = {finding["error_type"] for findings in path.values() for finding in findings}
    macros = {name: item for name, item in state.get("error_reflections", {}).items() if name in shown}
    seen = "\n".join([*map(said, trajectory.steps), trajectory.answer])
    secret = References(tuple(state["references"].get(trial["task"], [])), task["task"], seen)
    others = [item["id"] for name, item in state["trials"].items() if name != key]
    runtime.stream_writer({"event": "thinking", "role": "merge", "about": key})
    try:
        asked = await services.models.ask(
            role="merged_reflection",
            model=context.model,
            messages=merge_messages(task, state.get("reflections", {}).get(key, ""), path, macros),
            reply=reply_spec(MergedReflection),
            check=lambda reply: secret.problem(reply.reflection) or _foreign(reply.reflection, others),
        )
    except ReplyError as error:
        why = {f"merge_reflections {key}": error.problem or str(error)}
        return {"problems": why, "usage": {"merged_reflection": error.usage}}
    return {"merged": {key: asked.reply.reflection.strip()}, "usage": {"merged_reflection": asked.usage}}


def _foreign(reflection: str, others: Sequence[str]) -> str | None:
    """Whether it names a trajectory that its reader will not see. Ids of letters alone may be words."""
    named = next((id for id in others if not id.isalpha() and len(id) > 3 and id in reflection), None)
    return f"it names the trajectory {named}, which its reader will not see" if named else None
