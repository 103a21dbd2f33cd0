"""review: a person keeps, edits, merges or drops each error, shown with its evidence (PreFlect 3.2.1: manual
refinement, which removes what is too narrow, of one task only, or no matter of planning).

One question an error. There is no effect before the question: the node runs again when the reply has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import ValidationError

from forethought.knowledge.planning_errors import PlanningError
from forethought.nodes.distiller.checks import slug
from forethought.nodes.distiller.errors import entries_of
from forethought.nodes.distiller.take import DistillServices
from forethought.state.distiller import DistillerContext, DistillerState

Json = dict[str, Any]
DECISIONS = ("keep", "edit", "merge", "drop")


async def review(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Ask about the next error; without `review` in the context, or with none left, the distillation is
    done."""
    reviews = state.get("reviews", {})
    # After a review an empty set means that everything was dropped, not that nothing was begun.
    final = state.get("final", {}) if reviews or state.get("final") else generated(state)
    left = [name for name in final if name not in reviews]
    if services.context(runtime).review and left:
        return {**_ask_person(state, final, left[0]), "status": "running"}
    if final:
        return {"final": final, "status": "distilled", "problem": ""}
    entries, tasks = len(entries_of(state)), len(state["tasks"])
    problem = (
        f"none of the {entries} errors diagnosed in {tasks} tasks of mixed outcome is left: each "
        "was discarded, too narrow, without usable patterns, or dropped in the review; collect "
        "more runs"
    )
    return {"final": {}, "status": "no_errors", "problem": problem}


def generated(state: DistillerState) -> dict[str, Json]:
    """The errors with their patterns, as the model wrote them; those without patterns are not among them."""
    patterns = state.get("patterns", {})
    return {
        name: {
            "name": name,
            "description": error["description"],
            "failures": [dict(item) for item in patterns[name]["failures"]],
            "successes": [dict(item) for item in patterns[name]["successes"]],
            "entries": list(error["entries"]),
            "by": "model",
        }
        for name, error in state.get("errors", {}).items()
        if name in patterns
    }


def _ask_person(state: DistillerState, final: dict[str, Json], name: str) -> Json:
    """Ask until the reply can be carried out, and carry it out."""
    problem = ""
    while True:
        reply = interrupt(_question(state, final, name, problem))
        try:
            changed, record = decided(final, name, reply if isinstance(reply, Mapping) else {})
        except ValueError as error:
            problem = str(error)
            continue
        return {"final": changed, "reviews": {name: record}}


def decided(final: dict[str, Json], name: str, reply: Mapping[str, Any]) -> tuple[dict[str, Json], Json]:
    """The errors after a person's decision on `name`, and its record. Raises ValueError, in one line."""
    value = reply.get("value")
    match reply.get("decision"):
        case "keep":
            return final, {"decision": "keep"}
        case "drop":
            return {key: error for key, error in final.items() if key != name}, {"decision": "drop"}
        case "merge":
            return _merged(final, name, str(value or ""))
        case "edit":
            changed = edited(final[name], value)
            if any(other["name"] == changed["name"] for key, other in final.items() if key != name):
                raise ValueError(f"the name {changed['name']} is taken; choose another name, or merge")
            return {**final, name: changed}, {"decision": "edit", "name": changed["name"]}
        case _:
            raise ValueError(f"the decision must be one of {', '.join(DECISIONS)}")


def edited(error: Json, value: Any) -> Json:
    """`error` with a person's text: {name, description, failures, successes}, what is left out stays.

    A pattern whose text is unchanged keeps its provenance. Raises ValueError, in one line.
    """
    if not isinstance(value, Mapping):
        raise ValueError("edit needs at least one field to change: name, description, failures, successes")
    texts = {kind: [item["text"] for item in error[kind]] for kind in _KINDS}
    before = {"name": error["name"], "description": error["description"], **texts}
    try:
        valid = PlanningError.model_validate({**before, **value})
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from wrong
    patterns = {
        "failures": _with_provenance([item.text for item in valid.failures], error["failures"]),
        "successes": _with_provenance([item.text for item in valid.successes], error["successes"]),
    }
    return {**error, "name": valid.name, "description": valid.description, **patterns, "by": "person"}


_KINDS = ("failures", "successes")


def _with_provenance(texts: Sequence[str], before: Sequence[Json]) -> list[Json]:
    known = {" ".join(item["text"].split()): item for item in before}
    return [{**known.get(" ".join(text.split()), {"task": "", "run": ""}), "text": text} for text in texts]


def _merged(final: dict[str, Json], name: str, into: str) -> tuple[dict[str, Json], Json]:
    target = next((key for key, error in final.items() if slug(into) in (key, error["name"])), None)
    if target is None or target == name:
        others = ", ".join(error["name"] for key, error in final.items() if key != name)
        raise ValueError(f"merge needs the name of another error: {others or 'none'}")
    one, other = final[target], final[name]
    joined = {kind: [*one[kind], *other[kind]] for kind in (*_KINDS, "entries")}
    rest = {key: error for key, error in final.items() if key != name}
    return {**rest, target: {**one, **joined, "by": "person"}}, {"decision": "merge", "into": target}


def _question(state: DistillerState, final: dict[str, Json], name: str, problem: str) -> Json:
    """What a person is shown: the error, its patterns, and what was found in which run."""
    error, entries, tasks = final[name], entries_of(state), state["tasks"]
    findings = [{**entries[key], "question": tasks[entries[key]["task"]]["task"]} for key in error["entries"]]
    return {
        "kind": "review",
        "id": f"review-{error['name']}",
        "question": f"Keep, edit, merge or drop the error {error['name']}?",
        "choices": list(DECISIONS),
        "error": {key: error[key] for key in ("name", "description", *_KINDS)},
        "findings": findings,
        "others": [other for other in final if other != name],
        "problem": problem,
    }
