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

from forethought.graph.bounded_graph import BoundedGraph
from forethought.graph.node_wrapper import inline_condition, wrap_node
from forethought.graph.routing import if_running, wave_or
from forethought.models.types import Transport
from forethought.nodes.distiller.aggregate import aggregate, open_entries
from forethought.nodes.distiller.diagnose import diagnose_task, diagnose_wave
from forethought.nodes.distiller.patterns import pattern_wave, write_patterns
from forethought.nodes.distiller.review import review
from forethought.nodes.distiller.take import take
from forethought.nodes.support.offline import OfflineServices
from forethought.settings import Settings
from forethought.state.distiller import DistillerContext, DistillerInput, DistillerOutput, DistillerState
from forethought.state.job import Job
from forethought.telemetry import enable

DistillerGraph = CompiledStateGraph[DistillerState, DistillerContext, DistillerInput, DistillerOutput]

RECURSION_LIMIT = 10_000
"""Far above the number of tasks and entries: those end a distillation, this never should."""


def build_distiller(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
) -> DistillerGraph:
    """The compiled distiller. `settings` default to the environment's; `transport` carries model calls."""
    settings = settings or Settings()
    enable(settings)
    services = OfflineServices.of(DistillerContext, settings, transport)
    compiled = _wire(services).compile(checkpointer=checkpointer, name="distiller")
    return BoundedGraph.of(compiled, settings).with_config(recursion_limit=RECURSION_LIMIT)


def _wire(
    services: OfflineServices[DistillerContext],
) -> StateGraph[DistillerState, DistillerContext, DistillerInput, DistillerOutput]:
    graph = StateGraph(
        DistillerState,
        context_schema=DistillerContext,
        input_schema=DistillerInput,
        output_schema=DistillerOutput,
    )
    nodes: tuple[Any, ...] = (take, diagnose_wave, aggregate, pattern_wave, review)
    for node in nodes:
        graph.add_node(node.__name__, wrap_node(node, services))
    workers: tuple[Any, ...] = (diagnose_task, write_patterns)
    for worker in workers:
        graph.add_node(worker.__name__, wrap_node(worker, services, side_by_side=True), input_schema=Job)

    def add_route(node: str, route: Any, targets: list[str]) -> None:
        graph.add_conditional_edges(node, inline_condition(if_running(route)), [*targets, END])

    graph.add_edge(START, "take")
    add_route("take", "diagnose_wave", ["diagnose_wave"])
    add_route("diagnose_wave", wave_or("aggregate"), ["diagnose_task", "aggregate"])
    graph.add_edge("diagnose_task", "diagnose_wave")
    add_route("aggregate", _after_aggregate, ["aggregate", "pattern_wave"])
    add_route("pattern_wave", wave_or("review"), ["write_patterns", "review"])
    graph.add_edge("write_patterns", "pattern_wave")
    add_route("review", "review", ["review"])
    return graph


def _after_aggregate(state: DistillerState) -> str:
    """The next entry; with none left, the patterns."""
    return "aggregate" if open_entries(state) else "pattern_wave"


def make_distiller() -> DistillerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings."""
    return build_distiller()
