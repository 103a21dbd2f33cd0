"""What the wirings of the debugger, the distiller and the synthesizer have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer
from langgraph.typing import ContextT, InputT, OutputT, StateT

from forethought.graph.bounded_graph import BoundedGraph
from forethought.graph.node_wrapper import inline_condition, wrap_node
from forethought.graph.routing import Route, if_running, wave_or
from forethought.nodes.support.offline import OfflineServices
from forethought.state.offline import Job
from forethought.telemetry import enable

RECURSION_LIMIT = 10_000
"""Far above what a run can need: steps, tasks, trials and re-runs end it earlier."""


class Wiring(Generic[StateT, ContextT, InputT, OutputT]):
    """A graph under construction, whose nodes work with `services`. It begins at the node `take`."""

    def __init__(
        self, graph: StateGraph[StateT, ContextT, InputT, OutputT], services: OfflineServices[Any]
    ) -> None:
        self.graph, self.services = graph, services
        graph.add_edge(START, "take")

    def node(self, node: Any, then: str | Route, targets: Sequence[str] = ()) -> None:
        """A node; while the status is `running`, `then` follows: a node's name, or a choice of `targets`."""
        self.graph.add_node(node.__name__, wrap_node(node, self.services))
        path = [*targets] if callable(then) else [then]
        self.graph.add_conditional_edges(
            node.__name__, inline_condition(if_running(then)), [*dict.fromkeys([*path, END])]
        )

    def wave(self, wave: Any, workers: Sequence[Any], then: str) -> None:
        """A node that chooses jobs, the workers that do them side by side, and what follows the last wave."""
        self.node(wave, wave_or(then), [*(worker.__name__ for worker in workers), then])
        for worker in workers:
            wrapped = wrap_node(worker, self.services, side_by_side=True)
            self.graph.add_node(worker.__name__, wrapped, input_schema=Job)
            self.graph.add_edge(worker.__name__, wave.__name__)

    def compile(
        self, name: str, checkpointer: Checkpointer
    ) -> CompiledStateGraph[StateT, ContextT, InputT, OutputT]:
        """The graph, within the operator's bounds."""
        enable(self.services.settings)
        compiled = self.graph.compile(checkpointer=checkpointer, name=name)
        return BoundedGraph.of(compiled, self.services.settings).with_config(recursion_limit=RECURSION_LIMIT)
