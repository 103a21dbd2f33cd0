"""What the distiller's nodes work with besides state and context: built once a graph, holding nothing of any
distillation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph.runtime import Runtime

from forethought.models.ask import Models
from forethought.settings import Settings
from forethought.state.bounds import bounded
from forethought.state.distiller_context import DistillerContext, distiller_context_from
from forethought.tools.files import FileStore


class Budgets(Protocol):
    """The bounds that a context sets to what is spent."""

    @property
    def max_tokens(self) -> int | None:
        """Input and output tokens."""
        ...

    @property
    def max_usd(self) -> float | None:
        """Dollars."""
        ...


@dataclass(frozen=True)
class DistillServices:
    """The operator's settings, the models, and the store of trajectories."""

    settings: Settings
    models: Models
    store: FileStore

    def context(self, runtime: Runtime[DistillerContext]) -> DistillerContext:
        """The distillation's context within the operator's bounds. Raises ValueError when it asks for a
        model that is not allowed."""
        given: DistillerContext | dict[str, Any] | None = runtime.context
        return bounded(distiller_context_from(given), self.settings)


def exhausted(state: Mapping[str, Any], context: Budgets) -> str:
    """Which budget is spent: '' or a clause such as 'the budget of 1000 tokens is spent'."""
    usages = list(state.get("usage", {}).values())
    tokens = sum(usage.get("input_tokens", 0) + usage.get("output_tokens", 0) for usage in usages)
    if context.max_tokens is not None and tokens >= context.max_tokens:
        return f"the budget of {context.max_tokens} tokens is spent"
    if context.max_usd is not None and sum(usage.get("usd", 0.0) for usage in usages) >= context.max_usd:
        return f"the budget of {context.max_usd:g} dollars is spent"
    return ""
