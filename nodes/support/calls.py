"""Calls with an effect are made once, however often their step is broken off and resumed.

The intent of a call is in the task's journal before it is made, what came of it after:

    call N ATTEMPT intent     {tool, call, word, ...}
    call N ATTEMPT asks       the tool asked the person something, before it did anything
    call N ATTEMPT outcome    a CallResult

When the step N runs again, a known outcome is taken as it is. An attempt with an intent alone was broken off:
nobody knows whether it took effect, so the person is asked: it happened, do it again, or give up. A call that
changes nothing is not in the journal and simply made again, unless a person has approved it: then it is made
again with their word. So that few are broken off, a call that has begun comes to its end when the graph is to
stop.

LangGraph keeps a person's replies by their order within a task, and a step that was killed may find the reply
to an earlier question held for its first one. So the question takes its own words only, and "do it again"
names its attempt. Once a reply is acted upon, the thread neither waits for it nor holds it any more.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from forethought.journal import current_journal
from forethought.models.types import Usage
from forethought.nodes.support.prompt_text import compact
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
    """What models cost that it asked."""
    paid: list[Usage] = field(default_factory=list)
    """What else the tool paid for."""
    seconds: float = 0.0
    """How long it took before this run of the step; 0 where it was made in it."""
    by_person: bool = False
    """Whether it is a person's word on a call that was broken off."""


@dataclass(frozen=True)
class PriorAttempts:
    """What the journal knows of a step's call."""

    last: int = 0
    """Number of the last attempt; 0: none."""
    open: int = 0
    """Number of the last attempt of which nobody knows what came; 0: none."""
    result: CallResult | None = None
    intent: Json = field(default_factory=dict)
    """The last attempt's."""

    @property
    def begun(self) -> bool:
        """Whether the call was made, or may have been."""
        return self.result is not None or self.open > 0


async def prior_attempts(n: int) -> PriorAttempts:
    """What the running task's journal knows of the call of step `n`."""
    return _read(f"call {n}", await current_journal().entries())


def broken_off_calls(entries: Mapping[str, Json]) -> list[Json]:
    """The intents of a task's calls that may have changed something, and of which nobody knows what came."""
    names = dict.fromkeys(" ".join(key.split(" ", 2)[:2]) for key in entries if key.startswith("call "))
    found = [_read(name, entries) for name in names]
    return [attempts.intent for attempts in found if attempts.open and attempts.intent["changes"]]


async def call_once(
    tool: Tool,
    proposal: Proposal,
    intent: Json,
    attempts: PriorAttempts,
    make: Callable[[], Awaitable[CallResult]],
    shown: Callable[[str], str],
) -> CallResult:
    """What comes, or came, of a call, which `make` makes. `intent` has the `arguments` and the person's
    `word` on them; `shown` makes the model's text fit to be shown.

    Raises what `make` raises (interrupts, recordings that lack a reply, cancellation).
    """
    n = proposal["n"]
    if attempts.result is not None:
        return attempts.result
    if attempts.open and not tool.repeatable:
        result = ask_outcome(tool, intent["arguments"], attempts.open, proposal, shown)
        if result is not None:
            await _write_part(n, attempts.open, "outcome", asdict(result))
            return result
    if tool.repeatable and not intent["word"]:
        with finish_when_stopping():
            return await make()
    attempt = attempts.last + 1
    await _write_part(n, attempt, "intent", {**intent, "tool": tool.name, "changes": not tool.repeatable})
    started = time.monotonic()
    try:
        with finish_when_stopping():
            result = await make()
    except GraphInterrupt:
        # The tool asks the person something, before it does anything.
        await current_journal().write(_key(n, attempt, "asks"), {})
        raise
    await _write_part(n, attempt, "outcome", {**asdict(result), "seconds": time.monotonic() - started})
    return result


async def _write_part(n: int, attempt: int, part: str, value: Json) -> None:
    await current_journal().clear_question()
    await current_journal().write(_key(n, attempt, part), value)


def _key(n: int, attempt: int, part: str) -> str:
    return f"call {n} {attempt} {part}"


def _read(name: str, entries: Mapping[str, Json]) -> PriorAttempts:
    last, opened = 0, 0
    intent: Json = {}
    while f"{name} {last + 1} intent" in entries:
        last += 1
        intent = entries[f"{name} {last} intent"]
        if outcome := entries.get(f"{name} {last} outcome"):
            result = CallResult(**{**outcome, "observation": Observation(**outcome["observation"])})
            return PriorAttempts(last, 0, result, intent)
        if f"{name} {last} asks" not in entries:
            opened = last
    return PriorAttempts(last, opened, None, intent)


def ask_outcome(
    tool: Tool, arguments: Json, attempt: int, proposal: Proposal, shown: Callable[[str], str]
) -> CallResult | None:
    """What came of a broken-off call by the person's word (an interrupt), or None to make it again. There is
    no effect before this: the node runs again when the thread is resumed."""
    again = again_word(attempt)
    choices = [HAPPENED, again, GIVE_UP]
    question = (
        "This call was broken off, and nobody knows whether it took effect: "
        f"{tool.name}({compact(arguments)}). Look whether it did, then reply '{HAPPENED}' (add ': ...' to "
        f"say what came of it), '{again}' or '{GIVE_UP}'."
    )
    payload: Json = {
        "kind": "question",
        "id": f"question-{proposal['n']}",
        "n": proposal["n"],
        "subtask": proposal["subtask"],
        "question": shown(question),
        "choices": choices,
        "unknown": {"tool": tool.name, "arguments": arguments, "effect": tool.effect},
        "problem": "",
    }
    while True:
        word, text = _choice(interrupt(payload))
        if word == again:
            return None
        if word == HAPPENED:
            return CallResult(_happened_observation(text), by_person=True)
        if word == GIVE_UP:
            return CallResult(_give_up_observation(text), by_person=True)
        problem = (
            f"the reply must be {', '.join(map(repr, choices))} (with ': ...' to say more), not {word!r}"
        )
        payload = {**payload, "problem": problem}


def again_word(attempt: int) -> str:
    """The reply that has a call made again whose `attempt`th attempt was broken off."""
    return "do it again" if attempt == 1 else f"do it again ({attempt})"


def _choice(reply: Any) -> tuple[str, str]:
    """The choice and what was said besides; a rejection gives the call up."""
    said, reason = reply, ""
    if isinstance(reply, dict):
        reason = str(reply.get("reason") or "")
        if reply.get("decision") == "reject":
            return GIVE_UP, reason
        said = reply.get("value") if reply.get("decision") == "answer" else reply.get("decision")
    word, _, text = str(said if said is not None else "").partition(":")
    return word.strip().lower(), text.strip() or reason


def _happened_observation(text: str) -> Observation:
    said = f" and says: {text}" if text else ""
    return Observation(
        f"The call was broken off before its result came; the person has seen that it took effect{said}",
        origin="user",
    )


def _give_up_observation(text: str) -> Observation:
    why = f": {text}" if text else ""
    return Observation(
        f"The call was broken off before its result came. The person does not want it made again{why}. "
        "It may have taken effect.",
        ok=False,
        cause="unknown",
        origin="user",
    )
