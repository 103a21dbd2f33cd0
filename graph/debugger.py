"""The debugger's graph (AgentDebug, algorithm 1). This file only wires.

START -> take -> triage | label_wave | find_critical | rerun (a downstream baseline) | END
triage -> label_wave
label_wave -> label_step x wave, side by side -> label_wave (once a wave) ... -> find_critical
find_critical -> rerun | END
rerun -> judge -> locate_again -> rerun ... | END
"""

from __future__ import annotations

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.graph.offline import Wiring
from forethought.graph.routing import first_debugger_stage
from forethought.models.types import Transport
from forethought.nodes.debugger.critical import find_critical, locate_again
from forethought.nodes.debugger.judge import judge
from forethought.nodes.debugger.label import label_step, label_wave
from forethought.nodes.debugger.rerun import rerun
from forethought.nodes.debugger.services import DebugServices, LoadThread, MakeRollouts
from forethought.nodes.debugger.take import take
from forethought.nodes.debugger.triage import triage
from forethought.rollouts.types import Environment
from forethought.settings import Settings
from forethought.state.context import as_sent
from forethought.state.debugger import DebuggerContext, DebuggerInput, DebuggerOutput, DebuggerState

DebuggerGraph = CompiledStateGraph[DebuggerState, DebuggerContext, DebuggerInput, DebuggerOutput]


def build_debugger(
    settings: Settings | None = None,
    checkpointer: Checkpointer = None,
    transport: Transport | None = None,
    *,
    load_thread: LoadThread | None = None,
    rollouts: MakeRollouts | None = None,
    environment: Environment | None = None,
) -> DebuggerGraph:
    """The compiled debugger.

    `load_thread` reads threads and `rollouts` runs them, or trajectories in an environment, again; without
    them a trajectory can be given and its critical error found. `environment` judges by its reward. Reads
    the taxonomy from disk.
    """
    graph = StateGraph(
        DebuggerState, as_sent(DebuggerContext), input_schema=DebuggerInput, output_schema=DebuggerOutput
    )
    services = DebugServices.of(
        DebuggerContext,
        settings,
        transport,
        load_thread=load_thread,
        rollouts=rollouts,
        environment=environment,
    )
    wiring = Wiring(graph, services)
    wiring.node(take, first_debugger_stage, ["triage", "label_wave", "find_critical", "rerun"])
    wiring.node(triage, "label_wave")
    wiring.wave(label_wave, [label_step], "find_critical")
    # A critical error is corrected in a re-run, and a failed re-run shows where to look again.
    wiring.node(find_critical, "rerun")
    wiring.node(rerun, "judge")
    wiring.node(judge, "locate_again")
    wiring.node(locate_again, "rerun")
    return wiring.compile("debugger", checkpointer)


def make_debugger() -> DebuggerGraph:
    """The graph that langgraph.json serves: without a checkpointer, which the server brings. Its threads are
    the agent's on the same server, and are run again there."""
    from forethought.rollouts.server import load_thread, make_rollouts

    return build_debugger(load_thread=load_thread, rollouts=make_rollouts)
