"""What is measured: who, on which shape and size of task, how many runs at once, with how slow a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from benchmarks.peers.task import SHAPES, Shape

FLOOR, PEER, SEQUENTIAL = "bare loop", "create_agent", "create_agent, sequential"
"""The contenders that others are compared with."""
OURS = "ours, auto"
"""Forethought with its defaults."""
CONTENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    FLOOR: ("bare_loop", {}),
    PEER: ("langchain_agent", {"parallel": True}),
    SEQUENTIAL: ("langchain_agent", {"parallel": False}),
    "ours, paper": ("forethought_agent", {"effort": "paper"}),
    OURS: ("forethought_agent", {"effort": "auto"}),
    "ours, low": ("forethought_agent", {"effort": "low"}),
    "CodeAgent": ("smolagents_agent", {"agent": "CodeAgent"}),
    "CodeAgent, planning": ("smolagents_agent", {"agent": "CodeAgent", "planning": True}),
    "ToolCallingAgent": ("smolagents_agent", {"agent": "ToolCallingAgent"}),
    "ToolCallingAgent, planning": ("smolagents_agent", {"agent": "ToolCallingAgent", "planning": True}),
}
"""Module and options by name."""


@dataclass(frozen=True)
class Setting:
    """The same for all contenders."""

    runs: int
    latency_ms: int
    shape: Shape
    k: int

    def __str__(self) -> str:
        at_once = "" if self.runs == 1 else f", {self.runs} runs at once"
        return f"{self.shape}, K = {self.k}, {self.latency_ms} ms{at_once}"

    @property
    def repeats(self) -> int:
        """How often it is run in turn; figures are means."""
        return 3 if self.runs == 1 and self.latency_ms == 0 else 1


@dataclass(frozen=True)
class Cell:
    """One contender in one setting."""

    contender: str
    setting: Setting

    @property
    def measured(self) -> Cell:
        """The cell that makes the same requests and stands for it: only our planner divides a chain, and
        where calls follow one another it does not matter whether several may come in a turn."""
        if self.setting.shape == "independent" or self.contender.startswith("ours"):
            return self
        plain = PEER if self.contender == SEQUENTIAL else self.contender
        return Cell(plain, replace(self.setting, shape="chain"))


def settings(quick: bool) -> list[Setting]:
    """The grid's settings, in the order in which they are measured."""
    if quick:
        return [Setting(1, 50, shape, k) for shape in SHAPES for k in (5, 20)] + [Setting(16, 50, "chain", 5)]
    single = [Setting(1, ms, shape, k) for ms in (0, 50, 500) for shape in SHAPES for k in (5, 20, 100)]
    together = [
        Setting(64, 50, "chain", 20),
        Setting(64, 50, "independent", 20),
        Setting(256, 50, "chain", 5),
    ]
    return single + together


def cells(chosen: list[Setting], names: list[str]) -> list[Cell]:
    """The cells to measure: all contenders of a setting after one another, so that they meet the same
    machine. Those that plan now and then are not run by the dozen."""
    pairs = [(name, s) for s in chosen for name in names if s.runs == 1 or not name.endswith("planning")]
    return list(dict.fromkeys(Cell(name, setting).measured for name, setting in pairs))
