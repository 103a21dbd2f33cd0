from __future__ import annotations

from pathlib import Path

from forethought.settings import Settings
from forethought.tools.decorate import tool
from forethought.tools.registry import toolbox


@tool(effect="write", timeout_s=5, retryable=True)
def book(day: str) -> str:
    """Book a room for a day."""
    return f"booked for {day}"


def test_the_mark_reaches_the_tool_and_leaves_the_function_alone(tmp_path: Path) -> None:
    made = toolbox(Settings(data_dir=tmp_path), [book])["book"]
    assert (made.effect, made.timeout_s, made.retryable) == ("write", 5, True)
    assert book("Monday") == "booked for Monday"
