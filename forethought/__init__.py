"""Forethought: an agent that criticises its plan before it acts, re-plans, and learns from failures.

    from forethought import Context, build_agent
    result = build_agent().invoke({"task": "..."}, context=Context(model="openai:gpt-4.1"))

docs/reference/python.md describes the public names. They are loaded when they are first used, so that
`import forethought` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forethought.graph.agent import build_agent
    from forethought.integrations.debugging import debug
    from forethought.integrations.review import review_plan
    from forethought.models.types import ModelError
    from forethought.settings import Settings
    from forethought.state.context import Context
    from forethought.tools.base import Observation, Tool, ToolEnv, ToolError, make_tool, tool

__all__ = [
    "Context",
    "ModelError",
    "Observation",
    "Settings",
    "Tool",
    "ToolEnv",
    "ToolError",
    "build_agent",
    "debug",
    "make_tool",
    "review_plan",
    "tool",
]

_HOMES = {
    "Context": "state.context",
    "ModelError": "models.types",
    "Settings": "settings",
    "build_agent": "graph.agent",
    "debug": "integrations.debugging",
    "review_plan": "integrations.review",
}
"""The others are in `tools.base`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'tools.base')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
