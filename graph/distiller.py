"""The distiller's graph (PreFlect, section 3.2.1 and appendix B). This file only wires.

START -> take -> diagnose_wave | END
diagnose_wave -> diagnose_task x wave, side by side -> diagnose_wave (once a wave) ... -> aggregate
aggregate -> aggregate (the next entry) ... -> pattern_wave
pattern_wave -> write_patterns x wave, side by side -> pattern_wave ... -> finish -> END
"""

from __future__ import annotations

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.graph.offline import Wiring
from forethought.models.types import Transport
from forethought.nodes.distiller.errors import (
    aggregate,
    diagnose_task,
    diagnose_wave,
    open_entries,
    pattern_wave,
    write_patterns,
)
from forethought.nodes.distiller.finish import finish
from forethought.nodes.distiller.take import take
from forethought.nodes.support.offline import OfflineServices
from forethought.settings import Settings
from forethought.state.context import as_sent
from forethought.state.distiller import DistillerContext, DistillerInput, DistillerOutput, DistillerState

DistillerGraph = CompiledStateGraph[DistillerState, DistillerContext, DistillerInput, DistillerOutput]


def build_distiller(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
) -> DistillerGraph:
    """The compiled distiller. `settings` default to the environment's; `transport` carries model calls."""
    graph = StateGraph(
        DistillerState, as_sent(DistillerContext), input_schema=DistillerInput, output_schema=DistillerOutput
    )
    wiring = Wiring(graph, OfflineServices.of(DistillerContext, settings, transport))
    wiring.node(take, "diagnose_wave")
    wiring.wave(diagnose_wave, [diagnose_task], "aggregate")
    wiring.node(aggregate, _after_aggregate, ["aggregate", "pattern_wave"])
    wiring.wave(pattern_wave, [write_patterns], "finish")
    wiring.node(finish, END)
    return wiring.compile("distiller", checkpointer)


def _after_aggregate(state: DistillerState) -> str:
    """The next entry; with none left, the patterns."""
    return "aggregate" if open_entries(state) else "pattern_wave"


def make_distiller() -> DistillerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings."""
    return build_distiller()
