"""The distiller's graph (PreFlect, section 3.2.1 and appendix B). This file only wires.

START -> take -> diagnose_wave | END
diagnose_wave -> diagnose_task x wave, side by side -> diagnose_wave (once a wave) ... -> aggregate
aggregate -> aggregate (the next entry) ... -> pattern_wave
pattern_wave -> write_patterns x wave, side by side -> pattern_wave ... -> review
review -> review (the next error) ... -> END
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.graph import distiller_routing as routing
from forethought.graph.edges import at_once
from forethought.graph.turns import TurnTaking
from forethought.graph.wiring import wired
from forethought.models.ask import Models
from forethought.models.types import Transport
from forethought.nodes.distiller.aggregate import aggregate
from forethought.nodes.distiller.diagnose import diagnose_task, diagnose_wave
from forethought.nodes.distiller.patterns import pattern_wave, write_patterns
from forethought.nodes.distiller.review import review
from forethought.nodes.distiller.services import DistillServices
from forethought.nodes.distiller.take import take
from forethought.settings import Settings
from forethought.state.distiller_context import DistillerContext
from forethought.state.distiller_state import (
    DistillerInput,
    DistillerOutput,
    DistillerState,
    ErrorDispatch,
    TaskDispatch,
)
from forethought.telemetry import enable
from forethought.tools.files import FileStore

DistillerGraph = CompiledStateGraph[DistillerState, DistillerContext, DistillerInput, DistillerOutput]

RECURSION_LIMIT = 10_000
"""Far above what tasks and entries come to: those end a distillation, this never should."""


def build_distiller(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
) -> DistillerGraph:
    """The compiled distiller. `settings` default to the environment's; `transport` carries model calls."""
    settings = settings or Settings()
    enable(settings)
    services = DistillServices(settings, Models(settings, transport), FileStore.of(settings))
    compiled = _wire(services).compile(checkpointer=checkpointer, name="distiller")
    return TurnTaking.of(compiled, settings).with_config(recursion_limit=RECURSION_LIMIT)


def _wire(
    services: DistillServices,
) -> StateGraph[DistillerState, DistillerContext, DistillerInput, DistillerOutput]:
    graph = StateGraph(
        DistillerState,
        context_schema=DistillerContext,
        input_schema=DistillerInput,
        output_schema=DistillerOutput,
    )
    nodes: tuple[Any, ...] = (take, diagnose_wave, aggregate, pattern_wave, review)
    for node in nodes:
        graph.add_node(node.__name__, wired(node, services))
    diagnosing = wired(diagnose_task, services, side_by_side=True)
    graph.add_node("diagnose_task", diagnosing, input_schema=TaskDispatch)
    writing = wired(write_patterns, services, side_by_side=True)
    graph.add_node("write_patterns", writing, input_schema=ErrorDispatch)
    graph.add_edge(START, "take")
    graph.add_conditional_edges("take", at_once(routing.after_take), ["diagnose_wave", END])
    graph.add_conditional_edges(
        "diagnose_wave", at_once(routing.after_diagnose_wave), ["diagnose_task", "aggregate", END]
    )
    graph.add_edge("diagnose_task", "diagnose_wave")
    graph.add_conditional_edges(
        "aggregate", at_once(routing.after_aggregate), ["aggregate", "pattern_wave", END]
    )
    graph.add_conditional_edges(
        "pattern_wave", at_once(routing.after_pattern_wave), ["write_patterns", "review", END]
    )
    graph.add_edge("write_patterns", "pattern_wave")
    graph.add_conditional_edges("review", at_once(routing.after_review), ["review", END])
    return graph


def make_distiller() -> DistillerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings."""
    return build_distiller()
