"""A mark on a function of one's own that says what kind of tool it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from forethought.tools.base import Effect

Function = TypeVar("Function", bound=Callable[..., Any])
OPTIONS = "__tool_options__"
"""Attribute under which `tool` leaves its options for the registry."""


def tool(
    *,
    effect: Effect = "read",
    timeout_s: float = 60.0,
    retryable: bool = False,
    address: str | None = None,
    outside: bool = True,
) -> Callable[[Function], Function]:
    """Declare a function's effect, its time limit in seconds (0: none) and whether a failed call may be
    made again.

    `address` names the argument of an egress tool that is all it sends anywhere; `outside` is False for a
    function that returns no text from elsewhere (see `tools.base.Tool`).

    The function itself stays as it is and can be called as before; without this mark it gets the values
    given here.
    """

    def mark(function: Function) -> Function:
        options = {"effect": effect, "timeout_s": timeout_s, "retryable": retryable}
        setattr(function, OPTIONS, {**options, "address": address, "outside": outside})
        return function

    return mark
