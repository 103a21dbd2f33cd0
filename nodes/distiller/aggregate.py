"""aggregate: one entry against the growing set: new, merged into one of it, or discarded (PreFlect 3.2.1,
aggregation). One call an entry, one after the other, since each decision changes what the next one sees."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.distiller.checks import Copies, aggregation_problem, slug
from forethought.nodes.distiller.diagnose import entries_of
from forethought.nodes.distiller.messages import aggregation_messages
from forethought.nodes.distiller.runs import DistillServices, TaskRuns
from forethought.nodes.support.offline import stopped
from forethought.prompts.distill_replies import Aggregation
from forethought.state.distiller import Decision, DistillerContext, DistillerState, Entry, GrownError


async def aggregate(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Decide on the next entry; where no valid reply came, it is left out and the decision says why. Raises
    the other ModelErrors."""
    left = open_entries(state)
    if not left:
        return {}
    if stop := stopped(state, services.context(runtime), f"{len(left)} diagnosed errors are not aggregated"):
        return stop
    entry, errors = left[0], state.get("errors", {})
    copies = Copies.of([await TaskRuns.load(services, entry["task"], state["tasks"][entry["task"]])])
    reply, update = await services.ask(
        runtime,
        role="aggregation",
        about=entry["error_type"],
        problem_key=entry["key"],
        messages=aggregation_messages(entry, errors),
        reply=Aggregation,
        check=lambda reply: aggregation_problem(reply, list(errors), copies),
    )
    if reply is None:
        reason = update["problems"][entry["key"]]
        decision = Decision(entry=entry["key"], decision="failed", name="", reasoning=reason)
    else:
        name = slug(reply.name)
        decision = Decision(entry=entry["key"], decision=reply.decision, name=name, reasoning=reply.reasoning)
        update["errors"] = grown(errors, decision, reply.description)
    return {**update, "decisions": [*state.get("decisions", []), decision]}


def open_entries(state: DistillerState) -> list[Entry]:
    """Entries on which nothing is decided yet, in their order."""
    decided = {decision["entry"] for decision in state.get("decisions", [])}
    return [entry for key, entry in entries_of(state).items() if key not in decided]


def grown(errors: dict[str, GrownError], decision: Decision, description: str) -> dict[str, GrownError]:
    """The set after the decision."""
    if decision["decision"] == "discard":
        return errors
    name = decision["name"]
    before = errors[name]["entries"] if name in errors else []
    changed = GrownError(name=name, description=description.strip(), entries=[*before, decision["entry"]])
    return {**errors, name: changed}
