"""The conditions on the edges of the synthesizer's graph: pure functions of state."""

from __future__ import annotations

from collections.abc import Callable

from langgraph.graph import END
from langgraph.types import Send

from forethought.nodes.synthesizer.error_types import open_tasks
from forethought.state.synthesizer_state import SynthesizerState


def after_take(state: SynthesizerState) -> str:
    """Nothing to learn from: the end."""
    return "trial_wave" if state["status"] == "running" else END


def after_wave(then: str) -> Callable[[SynthesizerState], list[Send] | str]:
    """The wave's jobs side by side; with none left, on to `then`. A Send carries a key only."""

    def route(state: SynthesizerState) -> list[Send] | str:
        if state["status"] != "running":
            return END
        return [Send(job["node"], {"key": job["key"]}) for job in state["wave"]] or then

    return route


def after_error_types(state: SynthesizerState) -> str:
    """The next task; with none left, the labels."""
    if state["status"] != "running":
        return END
    return "error_types" if open_tasks(state) else "label_wave"
