"""Forethought: an agent that criticises its plan before it acts, re-plans, and learns from failures.

    from forethought import Context, build_agent
    result = build_agent().invoke({"task": "..."}, context=Context(model="openai:gpt-4.1"))

The public names are loaded when they are first used, so that `import forethought` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forethought.graph.agent import build_agent
    from forethought.integrations.review import review_plan
    from forethought.settings import Settings
    from forethought.state.context import Context
    from forethought.tools.base import Tool, make_tool, tool

__all__ = ["Context", "Settings", "Tool", "build_agent", "make_tool", "review_plan", "tool"]

_HOMES = {
    "Context": "forethought.state.context",
    "Settings": "forethought.settings",
    "Tool": "forethought.tools.base",
    "build_agent": "forethought.graph.agent",
    "make_tool": "forethought.tools.base",
    "review_plan": "forethought.integrations.review",
    "tool": "forethought.tools.base",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
