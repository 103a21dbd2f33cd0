"""Meso level, first half: the error taxonomy, grown task by task (SAMULE 3.2.1, intra-task learning).

One call a task, one after the other, since each sees what the ones before it have added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime
from rapidfuzz import fuzz

from forethought.nodes.distiller.checks import slug
from forethought.nodes.support.offline import stopped
from forethought.nodes.synthesizer.messages import type_messages
from forethought.nodes.synthesizer.take import SynthesizeServices
from forethought.prompts.synthesize_replies import TaxonomyGrowth
from forethought.state.synthesizer import ErrorType, SynthesizerContext, SynthesizerState

ALIKE = 85.0
"""From this similarity of their telling words (0 to 100) two names, or two definitions, count as one."""
_EMPTY = frozenset(
    ("error", "errors", "mistake", "mistakes", "failure", "issue", "problem", "of", "in", "the")
)


async def error_types(
    state: SynthesizerState, runtime: Runtime[SynthesizerContext], *, services: SynthesizeServices
) -> dict[str, Any]:
    """What the trials of the next task add to the taxonomy; where no valid reply came, why. Raises the other
    ModelErrors."""
    context, left = services.context(runtime), open_tasks(state)
    if not left:
        return {}
    if stop := stopped(state, context, f"{len(left)} tasks are not searched for error types"):
        return stop
    key, taxonomy = left[0], state.get("taxonomy", [])
    chosen = [state["trials"][trial] for trial in state["pool"] if state["trials"][trial]["task"] == key]
    trials = [(trial, await services.load(trial["stored"])) for trial in chosen]
    references = state["references"].get(key, []) if context.meso_reference else []
    reply, update = await services.ask(
        runtime,
        role="error_types",
        about=key,
        problem_key=f"error_types {key}",
        messages=type_messages(state["tasks"][key], trials, taxonomy, references, context),
        reply=TaxonomyGrowth,
        check=lambda reply: growth_problem(reply, taxonomy),
    )
    if reply is None:
        return update
    new = [
        ErrorType(name=slug(item.name), definition=item.definition.strip(), task=key)
        for item in reply.new_types
    ]
    typed = {**state.get("typed", {}), key: reply.rationale.strip()}
    return {**update, "taxonomy": [*taxonomy, *new], "typed": typed}


def failed_tasks(state: SynthesizerState) -> list[str]:
    """Tasks of which a trial failed, in their order."""
    failed = {trial["task"] for trial in state["trials"].values() if trial["outcome"] == "failure"}
    return [key for key in state["tasks"] if key in failed]


def open_tasks(state: SynthesizerState) -> list[str]:
    """Tasks with a failed trial that are not searched for error types yet."""
    typed, problems = state.get("typed", {}), state.get("problems", {})
    return [key for key in failed_tasks(state) if key not in typed and f"error_types {key}" not in problems]


def growth_problem(reply: TaxonomyGrowth, taxonomy: Sequence[ErrorType]) -> str | None:
    """Why the taxonomy cannot grow so, all reasons in one line."""
    problems = []
    known = [(error["name"], error["definition"]) for error in taxonomy]
    for number, new in enumerate(reply.new_types, 1):
        name = slug(new.name)
        if not _telling(name) or len(name) > 80:
            problems.append(f"new_types[{number}]: {new.name!r} is no name: two to five words in snake_case")
        elif twin := next((old for old, text in known if _alike(name, new.definition, old, text)), None):
            problems.append(
                f"new_types[{number}]: {name} is a near-duplicate of {twin}: use {twin} for it and leave it "
                "out, or tell it plainly apart by its name and its definition"
            )
        known.append((name, new.definition))
    return "; ".join(problems[:6]) or None


def _alike(name: str, definition: str, other: str, text: str) -> bool:
    return (
        fuzz.token_sort_ratio(_telling(name), _telling(other)) >= ALIKE
        or fuzz.token_sort_ratio(definition.casefold(), text.casefold()) >= ALIKE
    )


def _telling(name: str) -> str:
    """The words of a name that tell it from others."""
    return " ".join(word for word in name.split("_") if word and word not in _EMPTY)
