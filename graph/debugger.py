"""The debugger's graph (AgentDebug, algorithm 1). This file only wires.

START -> take -> label_wave | find_critical | rerun (a downstream baseline) | END
label_wave -> label_step x wave, side by side -> label_wave (once a wave) ... -> find_critical
find_critical -> rerun | END
rerun -> judge -> refine_guidance -> rerun ... | END
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.graph.bounded_graph import BoundedGraph
from forethought.graph.node_wrapper import inline_condition, wrap_node
from forethought.graph.routing import first_debugger_stage, if_running, labels_or_critical
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.models.ask import Models
from forethought.models.types import Transport
from forethought.nodes.debugger.critical import find_critical
from forethought.nodes.debugger.judge import judge, refine_guidance
from forethought.nodes.debugger.label import label_step, label_wave
from forethought.nodes.debugger.rerun import rerun
from forethought.nodes.debugger.services import DebugServices, LoadThread, MakeEvaluator, MakeRollouts
from forethought.nodes.debugger.take import take
from forethought.rollouts.types import Environment
from forethought.settings import Settings
from forethought.state.debugger import (
    DebuggerContext,
    DebuggerInput,
    DebuggerOutput,
    DebuggerState,
    LabelDispatch,
)
from forethought.telemetry import enable

DebuggerGraph = CompiledStateGraph[DebuggerState, DebuggerContext, DebuggerInput, DebuggerOutput]

RECURSION_LIMIT = 10_000
"""Far above what steps and re-runs come to: those end a debugging, this never should."""


def build_debugger(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
    *,
    load_thread: LoadThread | None = None,
    rollouts: MakeRollouts | None = None,
    environment: Environment | None = None,
    evaluators: MakeEvaluator | None = None,
) -> DebuggerGraph:
    """The compiled debugger.

    `load_thread` reads threads and `rollouts` runs them, or trajectories in an environment, again; without
    them a trajectory can be given and its critical error found. `environment` judges by its reward, and
    `evaluators` replaces the judges. Reads the taxonomy from disk.
    """
    settings = settings or Settings()
    enable(settings)
    services = DebugServices(
        settings=settings,
        models=Models(settings, transport),
        taxonomy=load_taxonomy(),
        load_thread=load_thread,
        rollouts=rollouts,
        environment=environment,
        evaluators=evaluators,
    )
    compiled = _wire(services).compile(checkpointer=checkpointer, name="debugger")
    return BoundedGraph.of(compiled, settings).with_config(recursion_limit=RECURSION_LIMIT)


def _wire(
    services: DebugServices,
) -> StateGraph[DebuggerState, DebuggerContext, DebuggerInput, DebuggerOutput]:
    graph = StateGraph(
        DebuggerState,
        context_schema=DebuggerContext,
        input_schema=DebuggerInput,
        output_schema=DebuggerOutput,
    )
    nodes: tuple[Any, ...] = (take, label_wave, find_critical, rerun, judge, refine_guidance)
    for node in nodes:
        graph.add_node(node.__name__, wrap_node(node, services))
    labelling = wrap_node(label_step, services, side_by_side=True)
    graph.add_node("label_step", labelling, input_schema=LabelDispatch)
    graph.add_edge(START, "take")
    graph.add_conditional_edges(
        "take",
        inline_condition(if_running(first_debugger_stage)),
        ["label_wave", "find_critical", "rerun", END],
    )
    graph.add_conditional_edges(
        "label_wave", inline_condition(labels_or_critical), ["label_step", "find_critical"]
    )
    graph.add_edge("label_step", "label_wave")
    # A critical error is corrected in a re-run, a re-run judged, and a failed one refines the guidance.
    cycle = (("find_critical", "rerun"), ("rerun", "judge"), ("judge", "refine_guidance"))
    for node, follower in (*cycle, ("refine_guidance", "rerun")):
        graph.add_conditional_edges(node, inline_condition(if_running(follower)), [follower, END])
    return graph


def make_debugger() -> DebuggerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings. Its threads are
    the agent's on the same server, and are run again there."""
    from forethought.rollouts.server import load_thread, make_rollouts

    return build_debugger(load_thread=load_thread, rollouts=make_rollouts)
