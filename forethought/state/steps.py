"""What a recorded step was: a call that was made, or a move without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def never_begun(step: Mapping[str, Any]) -> bool:
    """Whether the step's call was not made for want of time, which says nothing of the call."""
    return bool(step["cause"] == "limit" and step["origin"] == "model")


def is_call(step: Mapping[str, Any]) -> bool:
    """Whether a tool was called: a step of action, as PreFlect counts them (A.1).

    Handing a result over, asking for a new plan, a move that scored too low, and a call that was refused (a
    repeat, a person's No, no time left) are moves without a call.
    """
    return step["action"] == "call" and step["cause"] not in ("repeat", "rejected") and not never_begun(step)
