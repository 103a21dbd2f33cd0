"""The bounds of a run: what the operator allows of a Context, and when its budgets are spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar, get_args

from pydantic import BaseModel

from forethought.models.allowance import tokens_of, total
from forethought.models.types import Usage
from forethought.settings import Settings
from forethought.state.context import Approval

C = TypeVar("C", bound=BaseModel)
_BUDGETS = ("max_tokens", "max_usd", "max_seconds")
_APPROVALS: tuple[Approval, ...] = get_args(Approval)
"""From the least to the most."""


class Budgets(Protocol):
    """The budgets that every graph's Context has."""

    @property
    def max_tokens(self) -> int | None:
        """Input and output tokens."""
        ...

    @property
    def max_usd(self) -> float | None:
        """Dollars."""
        ...


def context_of(kind: type[C], value: C | dict[str, Any] | None, settings: Settings) -> C:
    """The run's Context within the operator's bounds, whether a client sent a model, a dict or nothing.

    Raises ValueError for what is no Context, and for a model that is not allowed.
    """
    return bounded(value if isinstance(value, kind) else kind.model_validate(value or {}), settings)


def bounded(context: C, settings: Settings) -> C:
    """`context`, of any graph, with the operator's default model and within the operator's bounds.

    A budget above the operator's is lowered to it, since a smaller budget harms nobody, and approval below
    the operator's is raised to it; a model that is not allowed is refused with a ValueError, since another
    one would silently change what was asked for.
    """
    wanted = dict(context)
    changes: dict[str, Any] = {}
    if settings.model and "model" not in context.model_fields_set:
        changes["model"] = settings.model
    for name in _BUDGETS:
        highest = getattr(settings, name)
        if highest is not None and name in wanted and (wanted[name] is None or wanted[name] > highest):
            changes[name] = highest
    if "approve_plan" in wanted and settings.require_plan_approval:
        changes["approve_plan"] = True
    if "approve_tools" in wanted and (
        _APPROVALS.index(wanted["approve_tools"]) < _APPROVALS.index(settings.least_approval)
    ):
        changes["approve_tools"] = settings.least_approval
    _check_models({**wanted, **changes}, settings)
    return context.model_copy(update=changes) if changes else context


def bounds_budgets(settings: Settings) -> bool:
    """Whether the operator bounds what a run may spend."""
    return any(getattr(settings, name) is not None for name in _BUDGETS)


def exhausted(state: Mapping[str, Any], context: Budgets, now: Usage | None = None, reserve: int = 0) -> str:
    """The spent budget of an offline graph: '' or a clause such as 'the budget of 1000 tokens is spent'.

    `now` is usage that the state does not hold yet; `reserve` tokens are kept back.
    """
    usage = total(*state.get("usage", {}).values(), now or {})
    if context.max_tokens is not None and tokens_of(usage) + reserve >= context.max_tokens:
        return f"the budget of {context.max_tokens} tokens is spent"
    if context.max_usd is not None and usage["usd"] >= context.max_usd:
        return f"the budget of {context.max_usd:g} dollars is spent"
    return ""


def _check_models(values: Mapping[str, Any], settings: Settings) -> None:
    models = [value for name, value in values.items() if name == "model" or name.endswith("_model")]
    refused = next((model for model in models if model and model not in settings.allowed_models), None)
    if settings.allowed_models and refused:
        raise ValueError(
            f"model {refused} is not allowed here; allowed: {', '.join(settings.allowed_models)}"
        )
