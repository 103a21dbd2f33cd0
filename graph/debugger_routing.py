"""The conditions on the edges of the debugger's graph: pure functions of state and context."""

from __future__ import annotations

from langgraph.graph import END
from langgraph.runtime import get_runtime
from langgraph.types import Send

from forethought.state.debugger_context import DebuggerContext, debugger_context_from
from forethought.state.debugger_state import DebuggerState

LABELLED = ("agentdebug", "counterfactual")
"""Methods that stage 1 comes before; the baselines of 4.1 look at the bare run."""
BASELINES = ("self_refine", "vanilla", "best_of_n", "tree_of_thoughts")
"""Downstream baselines of 4.2: they make the run again without a critical error."""


def after_take(state: DebuggerState) -> str:
    """Nothing to debug, or nothing that can be: the end. Else the stage that the context begins with."""
    if state["status"] != "running":
        return END
    context = debugger_context_from(get_runtime(DebuggerContext).context)
    if context.rerun in BASELINES:
        return "rerun"
    labelled = context.fine_grained and context.method in LABELLED
    return "label_wave" if labelled else "find_critical"


def after_wave(state: DebuggerState) -> list[Send] | str:
    """The wave's steps side by side; with none left, on to stage 2. A Send carries a number only."""
    return [Send("label_step", {"step": number}) for number in state["wave"]] or "find_critical"


def after_critical(state: DebuggerState) -> str:
    """To the re-run if one was asked for and there is something to correct."""
    return "rerun" if state["status"] == "running" else END


def after_rerun(state: DebuggerState) -> str:
    """A re-run that was made is judged."""
    return "judge" if state["status"] == "running" else END


def after_judge(state: DebuggerState) -> str:
    """Fixed, or no re-runs left: the end. Else better guidance."""
    return "refine_guidance" if state["status"] == "running" else END


def after_refine(state: DebuggerState) -> str:
    """The next re-run, unless the guidance could not be refined."""
    return "rerun" if state["status"] == "running" else END
