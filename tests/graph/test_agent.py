"""Building the agent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought.graph.agent import build_agent
from forethought.settings import Settings


def test_a_tool_may_not_be_named_like_a_move_that_is_no_call(settings: Callable[..., Settings]) -> None:
    def finish(what: str) -> str:
        """Finish something.

        Args:
            what: What to finish.
        """
        return what

    with pytest.raises(ValueError, match="the tool name finish is reserved"):
        build_agent(tools=[finish], settings=settings())
