"""The synthesizer's graph (SAMULE 3.2.1, Algorithm 1). This file only wires.

START -> take -> trial_wave | END
trial_wave -> attempt_trial, reflect_trial x wave, side by side -> trial_wave ... -> error_types
error_types -> error_types (the next task) ... -> label_wave
label_wave -> label_steps x wave, side by side -> label_wave ... -> macro_wave
macro_wave -> reflect_error x wave, side by side -> macro_wave ... -> merge_wave
merge_wave -> merge_reflections x wave, side by side -> merge_wave ... -> END
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.graph.bounded_graph import BoundedGraph
from forethought.graph.node_wrapper import inline_condition, wrap_node
from forethought.graph.routing import if_running, wave_or
from forethought.models.types import Transport
from forethought.nodes.support.offline import OfflineServices
from forethought.nodes.synthesizer.error_types import error_types, open_tasks
from forethought.nodes.synthesizer.labels import label_steps, label_wave
from forethought.nodes.synthesizer.macro import macro_wave, reflect_error
from forethought.nodes.synthesizer.merge import merge_reflections, merge_wave
from forethought.nodes.synthesizer.micro import attempt_trial, reflect_trial, trial_wave
from forethought.nodes.synthesizer.take import take
from forethought.settings import Settings
from forethought.state.job import Job
from forethought.state.synthesizer import (
    SynthesizerContext,
    SynthesizerInput,
    SynthesizerOutput,
    SynthesizerState,
)
from forethought.telemetry import enable
from forethought.trajectories.tasks import Attempt

SynthesizerGraph = CompiledStateGraph[
    SynthesizerState, SynthesizerContext, SynthesizerInput, SynthesizerOutput
]

RECURSION_LIMIT = 10_000
"""Far above the number of tasks, trials and steps: those end a synthesis, this never should."""

_WAVES = {
    "trial_wave": (("attempt_trial", "reflect_trial"), "error_types"),
    "label_wave": (("label_steps",), "macro_wave"),
    "macro_wave": (("reflect_error",), "merge_wave"),
    "merge_wave": (("merge_reflections",), END),
}
"""Each wave's workers, and what follows once nothing is left."""


def build_synthesizer(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
    attempt: Attempt | None = None,
) -> SynthesizerGraph:
    """The compiled synthesizer. `settings` default to the environment's; `transport` carries model calls;
    `attempt` makes one trial of a task, and without it only trajectories can be given."""
    settings = settings or Settings()
    enable(settings)
    services = OfflineServices.of(SynthesizerContext, settings, transport, attempt)
    compiled = _wire(services).compile(checkpointer=checkpointer, name="synthesizer")
    return BoundedGraph.of(compiled, settings).with_config(recursion_limit=RECURSION_LIMIT)


def _wire(
    services: OfflineServices[SynthesizerContext],
) -> StateGraph[SynthesizerState, SynthesizerContext, SynthesizerInput, SynthesizerOutput]:
    graph = StateGraph(
        SynthesizerState,
        context_schema=SynthesizerContext,
        input_schema=SynthesizerInput,
        output_schema=SynthesizerOutput,
    )
    nodes: tuple[Any, ...] = (take, trial_wave, error_types, label_wave, macro_wave, merge_wave)
    for node in nodes:
        graph.add_node(node.__name__, wrap_node(node, services))
    workers: tuple[Any, ...] = (attempt_trial, reflect_trial, label_steps, reflect_error, merge_reflections)
    for worker in workers:
        graph.add_node(worker.__name__, wrap_node(worker, services, side_by_side=True), input_schema=Job)
    graph.add_edge(START, "take")
    graph.add_conditional_edges("take", inline_condition(if_running("trial_wave")), ["trial_wave", END])
    graph.add_conditional_edges(
        "error_types", inline_condition(if_running(_after_error_types)), ["error_types", "label_wave", END]
    )
    for wave, (of_wave, then) in _WAVES.items():
        graph.add_conditional_edges(
            wave, inline_condition(if_running(wave_or(then))), [*of_wave, *{then, END}]
        )
        for name in of_wave:
            graph.add_edge(name, wave)
    return graph


def _after_error_types(state: SynthesizerState) -> str:
    """The next task; with none left, the labels."""
    return "error_types" if open_tasks(state) else "label_wave"


def make_synthesizer() -> SynthesizerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings, and for
    trajectories only."""
    return build_synthesizer()
