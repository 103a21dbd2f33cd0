"""The learner's graph: from one failed task to one advice. This file only wires.

START -> take -> find -> reflect -> rerun -> rerun (the next pair) ... -> replay
replay -> replay (the next past task) ... -> judge -> weigh -> END
"""

from __future__ import annotations

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from forethought.experience.book import Book
from forethought.graph.offline import Wiring
from forethought.models.types import Transport
from forethought.nodes.learner.find import find, take
from forethought.nodes.learner.lab import Lab
from forethought.nodes.learner.reflect import reflect
from forethought.nodes.learner.services import LearnerServices
from forethought.nodes.learner.trials import judge, replay, rerun
from forethought.nodes.learner.weigh import weigh
from forethought.settings import Settings
from forethought.state.context import as_sent
from forethought.state.learner import LearnerContext, LearnerInput, LearnerOutput, LearnerState

LearnerGraph = CompiledStateGraph[LearnerState, LearnerContext, LearnerInput, LearnerOutput]


def build_learner(
    settings: Settings | None,
    checkpointer: Checkpointer,
    lab: Lab,
    book: Book,
    transport: Transport | None = None,
) -> LearnerGraph:
    """The compiled learner.

    Args:
        settings: The operator's settings; None for the environment's.
        checkpointer: Keeps each step.
        lab: The threads, and the agent that decides again.
        book: Where the advice is kept.
        transport: Carries model calls; None for the providers.

    Returns:
        The graph.
    """
    graph = StateGraph(
        LearnerState, as_sent(LearnerContext), input_schema=LearnerInput, output_schema=LearnerOutput
    )
    services = LearnerServices.of(LearnerContext, settings, transport, lab=lab, book=book)
    wiring = Wiring(graph, services)
    wiring.node(take, "find")
    wiring.node(find, "reflect")
    wiring.node(reflect, "rerun")
    wiring.node(rerun, lambda state: "rerun" if state["reruns_left"] else "replay", ["rerun", "replay"])
    wiring.node(replay, lambda state: "replay" if state["past"] else "judge", ["replay", "judge"])
    wiring.node(judge, "weigh")
    wiring.node(weigh, END)
    return wiring.compile("learner", checkpointer)
