"""The review of a plan that somebody else wrote, without a graph (PreFlect 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel

from forethought.integrations.adviser import Adviser
from forethought.integrations.work import Work, plan_lines, written_plan
from forethought.models.types import Usage, no_usage
from forethought.settings import Settings
from forethought.state.agent import PlanError


@dataclass(frozen=True)
class PlanReviewed:
    """What a review came to."""

    errors: list[PlanError]
    """The planning errors found in the plan: {error_type, evidence, risk}; empty: none."""
    plan: str
    """The plan to carry out, numbered: revised if it had an error."""
    usage: Usage
    problem: str = ""
    """Why the examination did not end ('': it did)."""


async def review_plan(
    task: str,
    plan: str | Sequence[str],
    tools: Sequence[Any] = (),
    *,
    model: str | BaseChatModel | None = None,
    settings: Settings | None = None,
    **switches: Any,
) -> PlanReviewed:
    """Hold a plan against the planning errors, and revise it where one is found.

    Args:
        task: What the plan is for, with all that binds it.
        plan: The plan, as one text or as its steps in order.
        tools: Of whoever carries it out: functions, LangChain's, or dicts with name and description.
        model: A chat model or provider:name; by default that of the settings, or of `Context`.
        settings: Address, keys, and the file of planning errors; by default the environment's.
        switches: Fields of `Context`, such as max_reflections or effort.

    Raises ValueError for an empty plan or an unknown switch, ConfigurationError where a model has no key.
    """
    parts = [part for part in ([plan] if isinstance(plan, str) else plan) if part.strip()]
    if not parts:
        raise ValueError("the plan is empty: pass its text or its steps")
    work = Work(Adviser(model, settings, **switches).turn(tools), task)
    record = (await work.diagnosed(written_plan(parts, work))).record
    first, *later = record["reviews"]
    text = plan_lines(record["plan"]) if first["revised"] else "\n".join(parts)
    skipped = next((review["skipped"] for review in (first, *later) if review["skipped"]), "")
    return PlanReviewed(first["errors"], text, record["usage"].get("reflector", no_usage()), skipped)
