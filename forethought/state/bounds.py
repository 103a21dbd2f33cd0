"""The operator's bounds on what a run may ask for: allowed models, highest budgets, least approval."""

from __future__ import annotations

from typing import Any, get_args

from forethought.settings import Settings
from forethought.state.context import Approval, Context, Role

_BUDGETS = ("max_tokens", "max_usd", "max_seconds")
_APPROVALS: tuple[Approval, ...] = get_args(Approval)
"""From the least to the most."""


def bounded(context: Context, settings: Settings) -> Context:
    """`context` with the operator's default model and within the operator's bounds.

    A budget above the operator's is lowered to it, since a smaller budget harms nobody, and approval below
    the operator's is raised to it; a model that is not allowed is refused with a ValueError, since another
    one would silently change what was asked for.
    """
    changes: dict[str, Any] = {}
    if settings.model and "model" not in context.model_fields_set:
        changes["model"] = settings.model
    for name in _BUDGETS:
        highest, wanted = getattr(settings, name), getattr(context, name)
        if highest is not None and (wanted is None or wanted > highest):
            changes[name] = highest
    if settings.require_plan_approval:
        changes["approve_plan"] = True
    if _APPROVALS.index(context.approve_tools) < _APPROVALS.index(settings.least_approval):
        changes["approve_tools"] = settings.least_approval
    result = (
        Context.model_validate({**context.model_dump(exclude_unset=True), **changes}) if changes else context
    )
    _check_models(result, settings)
    return result


def bounds_budgets(settings: Settings) -> bool:
    """Whether the operator bounds what a run may spend."""
    return any(getattr(settings, name) is not None for name in _BUDGETS)


def models_of(context: Context) -> tuple[str, ...]:
    """The distinct models that a run with `context` may call, by role; last the fallback."""
    roles: tuple[Role, ...] = get_args(Role)
    fallback = [context.fallback_model] if context.fallback_model else []
    return tuple(dict.fromkeys([*(context.model_for(role) for role in roles), *fallback]))


def _check_models(context: Context, settings: Settings) -> None:
    if not settings.allowed_models:
        return
    for model in models_of(context):
        if model not in settings.allowed_models:
            raise ValueError(
                f"model {model} is not allowed here; allowed: {', '.join(settings.allowed_models)}"
            )
