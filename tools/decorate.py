"""A mark on a function of one's own that says what kind of tool it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tools.base import Effect

Function = TypeVar("Function", bound=Callable[..., Any])
OPTIONS = "__tool_options__"
"""Attribute under which `tool` leaves its options for the registry."""


def tool(
    *, effect: Effect = "read", timeout_s: float = 60.0, retryable: bool = False
) -> Callable[[Function], Function]:
    """Declare a function's effect, its time limit in seconds (0: none) and whether a failed call may be
    made again.

    The function itself stays as it is and can be called as before; without this mark it gets the values
    given here.
    """

    def mark(function: Function) -> Function:
        setattr(function, OPTIONS, {"effect": effect, "timeout_s": timeout_s, "retryable": retryable})
        return function

    return mark
