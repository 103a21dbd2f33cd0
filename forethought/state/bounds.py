"""The operator's bounds on what a run may ask for: allowed models, highest budgets, least approval."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import BaseModel

from forethought.settings import Settings
from forethought.state.context import Approval, Context, Role

C = TypeVar("C", bound=BaseModel)

_BUDGETS = ("max_tokens", "max_usd", "max_seconds")
_APPROVALS: tuple[Approval, ...] = get_args(Approval)
"""From the least to the most."""


def bounded(context: C, settings: Settings) -> C:
    """`context`, of any graph, with the operator's default model and within the operator's bounds.

    A budget above the operator's is lowered to it, since a smaller budget harms nobody, and approval below
    the operator's is raised to it; a model that is not allowed is refused with a ValueError, since another
    one would silently change what was asked for.
    """
    changes: dict[str, Any] = {}
    if settings.model and "model" not in context.model_fields_set:
        changes["model"] = settings.model
    for name in _BUDGETS:
        highest, wanted = getattr(settings, name), getattr(context, name, 0)
        if highest is not None and (wanted is None or wanted > highest):
            changes[name] = highest
    if isinstance(context, Context):
        if settings.require_plan_approval:
            changes["approve_plan"] = True
        if _APPROVALS.index(context.approve_tools) < _APPROVALS.index(settings.least_approval):
            changes["approve_tools"] = settings.least_approval
    result = context.model_copy(update=changes)
    _check_models(result, settings)
    return result


def bounds_budgets(settings: Settings) -> bool:
    """Whether the operator bounds what a run may spend."""
    return any(getattr(settings, name) is not None for name in _BUDGETS)


def models_of(context: BaseModel) -> tuple[str, ...]:
    """The distinct models that a run with `context` may call; for the agent by role, last the fallback."""
    if not isinstance(context, Context):
        fields = [name for name in type(context).model_fields if name.split("_")[-1] == "model"]
        return tuple(dict.fromkeys(name for field in fields if (name := getattr(context, field))))
    called = {
        "reflector": context.prospective_reflection,
        "retrospective": context.round_reflection or context.lessons,
    }
    roles: tuple[Role, ...] = get_args(Role)
    named = [context.model_for(role) for role in roles if called.get(role, True)]
    return tuple(dict.fromkeys([*named, *([context.fallback_model] if context.fallback_model else [])]))


def _check_models(context: BaseModel, settings: Settings) -> None:
    for model in models_of(context) if settings.allowed_models else ():
        if model not in settings.allowed_models:
            allowed = ", ".join(settings.allowed_models)
            raise ValueError(f"model {model} is not allowed here; allowed: {allowed}")
