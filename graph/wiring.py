"""What every node of every graph is wrapped in: it is told of, its finished calls are kept, and no error of
its holds a secret."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from langgraph.errors import GraphBubbleUp

from forethought.journal import journalled
from forethought.nodes.support.siblings import together
from forethought.redaction import redact_error, redactor
from forethought.telemetry import observed


def wired(node: Any, services: Any, *, kept: bool = True, side_by_side: bool = False) -> Any:
    """`node` with its services, for `add_node`.

    What it does is told under its name (spans, log lines), and what its calls gave is in its journal unless
    the graph is not `kept`. An error of one that runs `side_by_side` with its like cancels none of them.
    """
    at_work = journalled(node, kept)
    done = observed(together(at_work) if side_by_side else at_work)
    return partial(_without_secrets(done), services=services)


def _without_secrets(node: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """`node`, whose errors LangGraph stores with the thread as they are."""

    @functools.wraps(node)
    async def run(*args: Any, services: Any, **kwargs: Any) -> Any:
        try:
            return await node(*args, services=services, **kwargs)
        except GraphBubbleUp:
            raise
        except Exception as error:
            scrub = redactor(services.settings)
            redact_error(error, scrub)
            told = repr(error)
            if scrub(told) == told:
                raise
            # Its class keeps its words to itself, as pydantic's do.
            raise RuntimeError(scrub(told)) from None

    return run
