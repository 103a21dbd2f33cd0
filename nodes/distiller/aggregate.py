"""aggregate: one entry against the growing set: new, merged into one of it, or discarded (PreFlect 3.2.1,
aggregation). One call an entry, one after the other, since each decision changes what the next one sees."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from forethought.models.types import ReplyError, reply_spec
from forethought.nodes.distiller.checks import Copies, aggregation_problem, slug
from forethought.nodes.distiller.diagnose import entries_of
from forethought.nodes.distiller.messages import aggregation_messages
from forethought.nodes.distiller.runs import kept
from forethought.nodes.distiller.services import DistillServices
from forethought.prompts.distill_replies import Aggregation
from forethought.state.bounds import exhausted
from forethought.state.distiller_context import DistillerContext
from forethought.state.distiller_state import Decision, DistillerState, Entry, GrownError


async def aggregate(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Decide on the next entry; where no valid reply came, it is left out and the decision says why. Raises
    the other ModelErrors."""
    context = services.context(runtime)
    left = open_entries(state)
    if not left:
        return {}
    if why := exhausted(state, context):
        problem = f"{why}, and {len(left)} diagnosed errors are not aggregated; raise it"
        return {"status": "stopped", "problem": problem}
    entry, errors = left[0], state.get("errors", {})
    runs = await kept(services.store, entry["task"], state["tasks"][entry["task"]])
    copies = Copies.of([runs])
    runtime.stream_writer({"event": "thinking", "role": "aggregation", "about": entry["error_type"]})
    try:
        asked = await services.models.ask(
            role="aggregation",
            model=context.model,
            messages=aggregation_messages(entry, errors),
            reply=reply_spec(Aggregation),
            check=lambda reply: aggregation_problem(reply, list(errors), copies),
        )
    except ReplyError as error:
        why = error.problem or str(error)
        failed = Decision(entry=entry["key"], decision="failed", name="", reasoning=why)
        return {
            "decisions": [*state.get("decisions", []), failed],
            "problems": {entry["key"]: why},
            "usage": {"aggregation": error.usage},
        }
    decision = Decision(
        entry=entry["key"],
        decision=asked.reply.decision,
        name=slug(asked.reply.name),
        reasoning=asked.reply.reasoning,
    )
    return {
        "errors": grown(errors, decision, asked.reply.description),
        "decisions": [*state.get("decisions", []), decision],
        "usage": {"aggregation": asked.usage},
    }


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
