"""Calls with an effect are made once, however often their step is broken off and resumed.

The intent of a call is in the task's journal before it is made, what came of it after:

    call N ATTEMPT intent     {tool, arguments, word, pinned}
    call N ATTEMPT asks       the tool asked the person something, before it did anything
    call N ATTEMPT outcome    a CallResult

When the step N runs again, a known outcome is taken as it is. An attempt with an intent alone was broken off:
nobody knows whether it took effect, so the person is asked: it happened, do it again, or give up. A call that
may be made twice is not in the journal and simply made again. So that few are broken off, a call that has
begun comes to its end when the graph is to stop.

LangGraph keeps a person's replies by their order within a task, and a step that was killed may find the reply
to an earlier question held for its first one. So the question takes its own words only, and "do it again"
names its attempt. Once a reply is acted upon, the thread neither waits for it nor holds it any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from langgraph.errors import GraphInterrupt

from forethought.journal import current_journal
from forethought.models.types import Usage
from forethought.nodes.support.approval import ApprovalDecision
from forethought.nodes.support.prompt_text import compact
from forethought.nodes.support.questions import ask_until
from forethought.shutdown import finish_when_stopping
from forethought.state.agent import Proposal
from forethought.tools.base import Observation, Tool

Json = dict[str, Any]
HAPPENED, GIVE_UP = "it happened", "give up"


@dataclass(frozen=True)
class CallResult:
    """What came of a call, and what it took."""

    observation: Observation
    sub_steps: list[Json] = field(default_factory=list)
    """The calls that a program made."""
    inspected: list[Usage] = field(default_factory=list)
    """What the tool's model calls cost."""
    paid: list[Usage] = field(default_factory=list)
    """What else the tool cost."""
    by_person: bool = False
    """Whether a person reported the result of an unfinished call."""


@dataclass(frozen=True)
class PriorCall:
    """What the journal knows of a step's call from before this run of the step."""

    last: int = 0
    """Number of the last attempt; 0: none."""
    open: int = 0
    """Number of the last attempt whose outcome is unknown; 0: none."""
    result: CallResult | None = None
    intent: Json = field(default_factory=dict)
    """The last attempt's."""

    @property
    def decision(self) -> ApprovalDecision | None:
        """What was decided of the call, where it was made or may have been: a person who has approved it is
        not asked again whether it may be made."""
        if self.result is None and not self.open:
            return None
        intent = self.intent
        return ApprovalDecision(intent["arguments"], intent["word"], pinned=intent["pinned"])


async def find_prior_call(tool: Tool | None, n: int) -> PriorCall:
    """What the journal knows of the call of step `n`; `tool` is None where there is no such tool any more."""
    if tool is not None and tool.repeatable:
        return PriorCall()
    return _read(f"call {n}", await current_journal().entries())


def broken_off_calls(entries: Mapping[str, Json]) -> list[Json]:
    """The intents of a task's calls of which nobody knows what came."""
    names = dict.fromkeys(" ".join(key.split(" ", 2)[:2]) for key in entries if key.startswith("call "))
    calls = [_read(name, entries) for name in names]
    return [call.intent for call in calls if call.open]


async def call_once(
    tool: Tool,
    proposal: Proposal,
    decision: ApprovalDecision,
    prior: PriorCall,
    make: Callable[[], Awaitable[CallResult]],
    shown: Callable[[str], str],
) -> CallResult:
    """What comes, or came, of a call, which `make` makes; `shown` makes the model's text fit to be shown.

    Raises what `make` raises (interrupts, recordings that lack a reply, cancellation).
    """
    n = proposal["n"]
    if tool.repeatable:
        with finish_when_stopping():
            return await make()
    if prior.result is not None:
        return prior.result
    if prior.open and (result := ask_outcome(tool, decision.arguments, prior.open, proposal, shown)):
        await _write(n, prior.open, "outcome", asdict(result))
        return result
    attempt = prior.last + 1
    intent = {"arguments": decision.arguments, "word": decision.word, "pinned": decision.pinned}
    await _write(n, attempt, "intent", {"tool": tool.name, **intent})
    try:
        with finish_when_stopping():
            result = await make()
    except GraphInterrupt:
        # The tool asks the person something, before it does anything.
        await current_journal().write(f"call {n} {attempt} asks", {})
        raise
    await _write(n, attempt, "outcome", asdict(result))
    return result


async def _write(n: int, attempt: int, part: str, value: Json) -> None:
    await current_journal().clear_question()
    await current_journal().write(f"call {n} {attempt} {part}", value)


def _read(name: str, entries: Mapping[str, Json]) -> PriorCall:
    last, opened = 0, 0
    intent: Json = {}
    while f"{name} {last + 1} intent" in entries:
        last += 1
        intent = entries[f"{name} {last} intent"]
        if outcome := entries.get(f"{name} {last} outcome"):
            result = CallResult(**{**outcome, "observation": Observation(**outcome["observation"])})
            return PriorCall(last, 0, result, intent)
        if f"{name} {last} asks" not in entries:
            opened = last
    return PriorCall(last, opened, None, intent)


def ask_outcome(
    tool: Tool, arguments: Json, attempt: int, proposal: Proposal, shown: Callable[[str], str]
) -> CallResult | None:
    """What came of a broken-off call by the person's word (an interrupt), or None to make it again. There is
    no effect before this: the node runs again when the thread is resumed."""
    again = "do it again" if attempt == 1 else f"do it again ({attempt})"
    choices = [HAPPENED, again, GIVE_UP]
    question = (
        "This call did not finish and may have taken effect: "
        f"{tool.name}({compact(arguments)}). Check whether it did, then reply '{HAPPENED}' (add "
        f"': ...' to report the result), '{again}' or '{GIVE_UP}'."
    )
    payload: Json = {
        "kind": "question",
        "id": f"question-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "question": shown(question),
        "choices": choices,
        "unknown": {"tool": tool.name, "arguments": arguments, "effect": tool.effect},
    }

    def read(reply: Any) -> tuple[str, str] | str:
        word, text = _choice(reply)
        if word in choices:
            return word, text
        return f"the reply must be {', '.join(map(repr, choices))} (with ': ...' to say more), not {word!r}"

    word, text = ask_until(payload, read)
    if word == again:
        return None
    if word == HAPPENED:
        remark = f" and says: {text}" if text else ""
        outcome = f"The call did not finish; the person confirms that it took effect{remark}"
        return CallResult(Observation(outcome, origin="user"), by_person=True)
    why = f": {text}" if text else ""
    outcome = (
        f"The call did not finish. The person does not want to repeat it{why}. It may have taken effect."
    )
    return CallResult(Observation(outcome, ok=False, cause="unknown", origin="user"), by_person=True)


def _choice(reply: Any) -> tuple[str, str]:
    """The choice and what was said besides; a rejection gives the call up."""
    words, reason = reply, ""
    if isinstance(reply, dict):
        reason = str(reply.get("reason") or "")
        if reply.get("decision") == "reject":
            return GIVE_UP, reason
        words = reply.get("value") if reply.get("decision") == "answer" else reply.get("decision")
    word, _, text = str(words if words is not None else "").partition(":")
    return word.strip().lower(), text.strip() or reason
