"""One call of a step: what the tool may use of the run, and the calls that it may make itself.

The tool may put questions about a document or an image to the run's models (PreFlect A.2). A program of the
agent's may make calls (code actions, PreFlect), each a recorded sub-step: only of what reads
(`tools.sandbox.program.from_code`), and under the rules that hold for the agent itself: arguments are
checked, time and text are limited, secrets are taken out. A call (tool and arguments) that failed in this
task is never made a second time, whether the agent asks for it or a program of the agent's (MIRROR's
published code sends failed calls again).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from forethought.journal import current_journal
from forethought.models.allowance import Allowance
from forethought.models.types import Image, Message, ReplayError, ReplyError, Usage, reply_spec
from forethought.nodes.support.approval import ApprovalDecision
from forethought.nodes.support.calls import CallResult, PriorCall, call_once
from forethought.nodes.support.file_reader import FileReader
from forethought.nodes.support.origins import joined
from forethought.nodes.support.person_view import for_person
from forethought.nodes.support.prompt_text import compact, trajectory
from forethought.nodes.support.questions import ask_person
from forethought.nodes.support.services import Turn
from forethought.prompts.render import prompt_messages, render
from forethought.prompts.replies import DocumentAnswer
from forethought.state.agent import AgentState, Proposal
from forethought.state.context import Role
from forethought.state.steps import never_begun
from forethought.text import cut
from forethought.tools.base import Observation, Tool, ToolEnv, ToolError
from forethought.tools.call import call_tool, normalise
from forethought.tools.each.store import tables_in
from forethought.tools.folders.given import access
from forethought.tools.sandbox.program import MAX_CALLS, from_code

Json = dict[str, Any]
ENOUGH = "Go on with what was found."
RECORDED_CHARACTERS = 2000
"""Maximum characters of a sub-step's observation; the program had all of it."""


async def make_call(
    tool: Tool,
    proposal: Proposal,
    decision: ApprovalDecision,
    prior: PriorCall,
    state: AgentState,
    turn: Turn,
    allowance: Allowance,
) -> CallResult:
    """Make the call that was settled, once: see `nodes.support.calls`.

    What models cost that it asks is booked in `allowance`. Raises ReplayError where a recording lacks what
    the tool asked a model.
    """
    services, inspection = turn.services, Inspection(turn, allowance)

    def shown(text: str) -> str:
        return for_person(text, state, services.tools)

    def ask(question: str, choices: list[str]) -> str:
        return ask_person(proposal["subtask"], proposal["n"], shown(question), list(map(shown, choices)))

    results = state.get("results", {})
    env = ToolEnv(
        settings=services.settings,
        **access(state.get("files", []), state.get("folders", []), services.settings, services.store),
        results={key: result["text"] for key, result in results.items()},
        origins={key: result["origin"] for key, result in results.items()},
        inspect=inspection,
        look=inspection.look,
        read=FileReader(turn, allowance, proposal, inspection.lacks),
        tables=_tables(state),
        ask=ask,
        book=inspection.paid.append,
        same_host_only=decision.pinned,
        sizes=turn.context.sizes,
        call_id=current_journal().id(f"call {proposal['n']}"),
    )
    code = CodeActions(services.offered(state), env, state, proposal["n"], inspection)

    async def make() -> CallResult:
        observation = await call_tool(tool, decision.arguments, code.env if tool.runs_code else env)
        if inspection.missing:
            raise inspection.missing
        if code.sub_steps:
            read = [item["origin"] for item in code.sub_steps]
            observation = replace(observation, origin=joined([observation.origin, *read]))
        if inspection.spent:
            observation = replace(observation, origin=f"{observation.origin.removesuffix(', model')}, model")
        return CallResult(observation, code.sub_steps, list(inspection.spent), list(inspection.paid))

    if prior.result is not None:
        allowance.used.extend(prior.result.inspected)
        allowance.paid.extend(prior.result.paid)
    return await call_once(tool, proposal, decision, prior, make, shown)


def earlier_failure(
    tool: Tool, arguments: Json, state: AgentState, now: Iterable[Json] = (), n: int = 0
) -> Observation | None:
    """What the agent sees instead of a call that failed in the task before, or among the sub-steps `now` of
    the current step `n`; None for one that may be made.

    Transport failures of tools that may be called again do not count; one that writes is none of them, since
    such a failure may have taken effect.
    """
    same = compact(normalise(tool, arguments))
    for at, call in [*_calls(state), *((n, item) for item in now)]:
        if call["ok"] or call["tool"] != tool.name or call["cause"] == "repeat":
            continue
        if tool.retryable and tool.repeatable and call["cause"] in ("transport", "timeout"):
            continue
        if compact(normalise(tool, call["arguments"])) == same:
            reason = f"the same call failed at step {at} ({call['cause']}): {cut(call['observation'], 800)}"
            return Observation(f"Not called: {reason}", ok=False, cause="repeat", origin=f"tool:{tool.name}")
    return None


def _tables(state: AgentState) -> dict[str, str]:
    """The tables that the thread's readings have made; of one name, the last."""
    texts = [
        call["observation"]
        for step in state.get("trajectory", [])
        for call in (step, *step["sub_steps"])
        if call["tool"] == "read_each"
    ]
    return {name: key for text in texts for name, key in tables_in(text).items()}


def _calls(state: AgentState) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for step in trajectory(state):
        if step["action"] == "call" and not never_begun(step):
            yield step["n"], step
        for sub_step in step["sub_steps"]:
            yield step["n"], sub_step


class Inspection:
    """The inspector of one step's calls, and what it cost: known as it is spent, also where the call that
    asked is cancelled. Beyond the step's allowance no model is asked.

    A model that gives no answer is a failure of the tool. A recording that lacks the answer is none: it would
    be lost among the tool's failures, so it is kept in `missing` for the executor to raise.
    """

    def __init__(self, turn: Turn, allowance: Allowance) -> None:
        self.allowance = allowance
        self.missing: ReplayError | None = None
        self._turn = turn

    def lacks(self, error: ReplayError) -> None:
        """A recording lacks what another question asks for."""
        self.missing = error

    @property
    def spent(self) -> list[Usage]:
        """What each question cost."""
        return self.allowance.used

    @property
    def paid(self) -> list[Usage]:
        """What the tool paid for by itself, such as a transcription."""
        return self.allowance.paid

    async def __call__(self, question: str, text: str, name: str) -> DocumentAnswer:
        """The answer to `question` from `text`. Raises ToolError where the model has none."""
        messages = prompt_messages("inspector", question=question, text=text, name=name)
        return await self._ask("tool", messages, name, "Read it by part.")

    async def look(self, question: str, image: Image, name: str) -> DocumentAnswer:
        """The answer to `question` ('': a description) from an image. Raises ToolError where there is
        none.
        """
        system, user = render("look", question=question, name=name)
        messages = [Message("system", system), Message("user", user, (image,))]
        hint = "Go on without the picture, or ask the user what it shows."
        return await self._ask("vision", messages, name, hint)

    async def _ask(self, model: Role, messages: list[Message], name: str, hint: str) -> DocumentAnswer:
        if over := self.allowance.spent():
            raise ToolError(f"no model is asked about {name}: {beyond(over)}", cause="limit", hint=ENOUGH)
        try:
            result = await self._turn.ask(
                "inspector", messages, reply_spec(DocumentAnswer), self.allowance, model=model, lenient=True
            )
        except ReplayError as error:
            self.missing = error
            raise
        if result.reply is None:
            said, cause = result.problem, "tool" if isinstance(result.error, ReplyError) else "transport"
            if over := self.allowance.spent():
                said, cause, hint = f"{said}; {beyond(over)}", "limit", ENOUGH
            raise ToolError(f"no valid answer about {name}: {said}", cause=cause, hint=hint) from result.error
        return result.reply


def beyond(budget: str) -> str:
    """Why a call is not made."""
    return f"this step's share of the {budget} budget is spent"


class CodeActions:
    """The calls of one program, at step `n`."""

    def __init__(
        self, tools: Mapping[str, Tool], env: ToolEnv, state: AgentState, n: int, inspection: Inspection
    ) -> None:
        self.sub_steps: list[Json] = []
        """{tool, arguments, ok, cause, observation (its head), origin, seconds} of each call, in order."""
        self._tools = from_code(tools)
        self._env, self._state, self._n = replace(env, ask=None), state, n
        self._inspection = inspection

    @property
    def env(self) -> ToolEnv:
        """The run's environment with these calls in it."""
        return replace(self._env, call=self, offered=self._tools)

    async def __call__(self, name: str, arguments: Json) -> Observation:
        """Make a call; whatever goes wrong is an observation."""
        tool = self._tools.get(name)
        if tool is None:
            problem = f"a program cannot call {name!r}"
            hint = f"it can call {', '.join(self._tools)}"
            return Observation(problem, ok=False, cause="arguments", hint=hint, origin="model")
        if len(self.sub_steps) >= MAX_CALLS:
            problem, hint = f"a program may make at most {MAX_CALLS} calls", "go on in another program"
            return Observation(problem, ok=False, cause="limit", hint=hint, origin="model")
        over = self._inspection.allowance.spent()
        if over == "seconds" or (over and self._inspection.paid):
            # Reading costs only time, unless a tool pays by itself; what asks a model is refused there.
            return Observation(beyond(over), ok=False, cause="limit", hint=ENOUGH, origin="model")
        started = time.monotonic()
        observation = earlier_failure(tool, arguments, self._state, self.sub_steps, self._n)
        observation = observation or await call_tool(tool, arguments, self._env)
        if self._inspection.missing:
            raise self._inspection.missing
        self._record(tool, arguments, observation, time.monotonic() - started)
        return observation

    def _record(self, tool: Tool, arguments: Json, observation: Observation, seconds: float) -> None:
        text = observation.text + (f"\nHint: {observation.hint}" if observation.hint else "")
        self.sub_steps.append(
            {
                "tool": tool.name,
                "arguments": arguments,
                "ok": observation.ok,
                "cause": observation.cause,
                "observation": text[:RECORDED_CHARACTERS],
                "origin": observation.origin,
                "seconds": round(seconds, 3),
            }
        )
