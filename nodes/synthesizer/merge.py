"""The merge: one final reflection a failed trial, from what all levels have said of it (SAMULE 3.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.nodes.support.offline import jobs_for, next_wave
from forethought.nodes.support.state_reader import read_state
from forethought.nodes.synthesizer.labels import error_path
from forethought.nodes.synthesizer.leaks import References
from forethought.nodes.synthesizer.messages import merge_messages
from forethought.nodes.synthesizer.take import SynthesizeServices
from forethought.prompts.synthesize_replies import MergedReflection
from forethought.state.offline import Job
from forethought.state.synthesizer import SynthesizerContext, SynthesizerState
from forethought.trajectories.show import whole_text

READS = ("tasks", "trials", "reflections", "labels", "error_reflections", "references")


async def merge_wave(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """Which trials' reflections are merged next, without a model call; with none left, the end."""
    done, problems = state.get("merged", {}), state.get("problems", {})
    failed = [key for key in state["pool"] if state["trials"][key]["outcome"] == "failure"]
    left = [key for key in failed if key not in done and f"merge_reflections {key}" not in problems]
    bare = [key for key in left if not (state.get("reflections", {}).get(key) or error_path(state, key))]
    left = [key for key in left if key not in bare]
    jobs = jobs_for("merge_reflections", left)
    wave = next_wave(state, services.context(runtime), jobs, f"{len(left)} trials have no final reflection")
    update: dict[str, Any] = {
        **wave,
        "problems": {f"merge_reflections {key}": "no level said anything of it" for key in bare},
    }
    if left:
        return update
    if done:
        return {**update, "status": "synthesized", "problem": ""}
    reason = f"{len(failed)} trials failed, and no usable reflection on them came; see problems"
    return {**update, "status": "no_reflections", "problem": reason}


async def merge_reflections(
    job: Job,
    runtime: Runtime[SynthesizerContext],
    config: RunnableConfig,
    *,
    services: SynthesizeServices,
) -> dict[str, Any]:
    """The final reflection on one failed trial; where no usable one came, why. Raises the other
    ModelErrors."""
    key = job["key"]
    state: SynthesizerState = read_state(config, READS)
    trial, path = state["trials"][key], error_path(state, key)
    task = state["tasks"][trial["task"]]
    types = {finding["error_type"] for findings in path.values() for finding in findings}
    macros = {name: item for name, item in state.get("error_reflections", {}).items() if name in types}
    text = whole_text(await services.load(trial["stored"]))
    secret = References(tuple(state["references"].get(trial["task"], [])), task["task"], text)
    others = [item["id"] for name, item in state["trials"].items() if name != key]
    reply, update = await services.ask(
        runtime,
        role="merged_reflection",
        about=key,
        problem_key=f"merge_reflections {key}",
        messages=merge_messages(task, state.get("reflections", {}).get(key, ""), path, macros),
        reply=MergedReflection,
        check=lambda reply: secret.problem(reply.reflection) or _foreign(reply.reflection, others),
    )
    return update if reply is None else {**update, "merged": {key: reply.reflection.strip()}}


def _foreign(reflection: str, others: Sequence[str]) -> str | None:
    """Whether it names a trajectory that its reader will not see. Ids of letters alone may be words."""
    named = next((id for id in others if not id.isalpha() and len(id) > 3 and id in reflection), None)
    return f"it names the trajectory {named}, which its reader will not see" if named else None
