"""The synthesizer's graph (SAMULE 3.2.1, Algorithm 1). This file only wires.

START -> take -> trial_wave | END
trial_wave -> attempt_trial, reflect_trial x wave, side by side -> trial_wave ... -> error_types
error_types -> error_types (the next task) ... -> label_wave
label_wave -> label_steps x wave, side by side -> label_wave ... -> macro_wave
macro_wave -> reflect_error x wave, side by side -> macro_wave ... -> merge_wave
merge_wave -> merge_reflections x wave, side by side -> merge_wave ... -> END
"""

from __future__ import annotations

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.graph.offline import Wiring
from forethought.models.types import Transport
from forethought.nodes.support.offline import OfflineServices
from forethought.nodes.synthesizer.macro import macro_wave, merge_reflections, merge_wave, reflect_error
from forethought.nodes.synthesizer.meso import error_types, label_steps, label_wave, open_tasks
from forethought.nodes.synthesizer.micro import attempt_trial, reflect_trial, trial_wave
from forethought.nodes.synthesizer.take import take
from forethought.settings import Settings
from forethought.state.context import as_sent
from forethought.state.synthesizer import (
    SynthesizerContext,
    SynthesizerInput,
    SynthesizerOutput,
    SynthesizerState,
)
from forethought.trajectories.tasks import Attempt

SynthesizerGraph = CompiledStateGraph[
    SynthesizerState, SynthesizerContext, SynthesizerInput, SynthesizerOutput
]


def build_synthesizer(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
    attempt: Attempt | None = None,
) -> SynthesizerGraph:
    """The compiled synthesizer. `settings` default to the environment's; `transport` carries model calls;
    `attempt` makes one trial of a task, and without it only trajectories can be given."""
    graph = StateGraph(
        SynthesizerState,
        as_sent(SynthesizerContext),
        input_schema=SynthesizerInput,
        output_schema=SynthesizerOutput,
    )
    wiring = Wiring(graph, OfflineServices.of(SynthesizerContext, settings, transport, attempt=attempt))
    wiring.node(take, "trial_wave")
    wiring.wave(trial_wave, [attempt_trial, reflect_trial], "error_types")
    wiring.node(error_types, _after_error_types, ["error_types", "label_wave"])
    wiring.wave(label_wave, [label_steps], "macro_wave")
    wiring.wave(macro_wave, [reflect_error], "merge_wave")
    wiring.wave(merge_wave, [merge_reflections], END)
    return wiring.compile("synthesizer", checkpointer)


def _after_error_types(state: SynthesizerState) -> str:
    """The next task; with none left, the labels."""
    return "error_types" if open_tasks(state) else "label_wave"


def make_synthesizer() -> SynthesizerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings, and for
    trajectories only."""
    return build_synthesizer()
