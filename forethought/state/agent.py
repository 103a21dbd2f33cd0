"""The state of the online graph: plain JSON, described by TypedDicts.

Dicts, lists, strings and numbers only, so that a checkpoint reads anywhere, survives a new release and can be
edited in LangGraph Studio. Pydantic stands at the edges (model replies, files, configuration), never in a
channel.

Short-term and long-term memory are MIRROR's (section 3.5); `plan_reviews` and `replans` are PreFlect's
(3.2.2, 3.3).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12

from forethought.models.types import Usage
from forethought.state.draft import Draft, Source
from forethought.state.look import Look
from forethought.state.reducers import (
    add_usage,
    append,
    delta,
    join_messages,
    last,
    merge,
    merge_files,
    merge_rounds,
)
from forethought.state.skips import Skip

Json = dict[str, Any]
Status = Literal["running", "answered", "best_effort", "budget_exhausted", "failed"]
SubtaskStatus = Literal["pending", "finished", "failed", "blocked"]
Surprise = Literal["none", "minor", "serious"]


class FileRef(TypedDict, total=False):
    """A file given to the run. Its content is kept by hash in the configured storage, never by a local
    path."""

    name: str
    """How the task, the plan and the tools call it; unique in a thread."""
    hash: str
    """SHA-256 of the content, hexadecimal."""
    size: int
    """Bytes."""
    type: str
    """Media type."""
    data: str
    """Base64 content, in a client's input only: it is moved to the storage before anything else happens."""


class Call(TypedDict):
    """A call that a subtask begins with."""

    tool: str
    arguments: Json
    finishes: NotRequired[bool]
    """Whether what it returns is the subtask's result (default); else a worker goes on from it."""


class Subtask(TypedDict):
    """A node of the plan's dependency graph."""

    id: str
    description: str
    depends_on: list[str]
    call: NotRequired[Call | None]
    """What it begins with, without a model being asked; None: its worker chooses."""
    expected: str
    """What its result should look like."""
    status: NotRequired[SubtaskStatus]
    """While the task is under way it stands in `statuses` alone; prompts and clients get it here."""


class Plan(TypedDict, total=False):
    """The plan in force."""

    version: int
    """1 for the first plan of the task, one more for each new plan and each revision by the reflector."""
    signs: list[Json]
    """The planner's verdicts on the signs seen: {sign, bears, handled_by}."""
    known: list[str]
    """What task and files state that binds it, in the planner's words."""
    open: list[str]
    """What is to be found out by it."""
    subtasks: list[Subtask]
    evaluation: str
    """The defects that the planner named in it, a line each."""
    score: int
    """1 to 10, from these defects (MIRROR 3.4); not given again to the reflector's revisions."""
    revisions: int
    """How often the planner revised it before handing it on."""
    why: str
    """Why it was made."""
    guidance: list[str]
    """The guidance under which it was made."""
    n: int
    """Number of the last step sent before it was made."""
    unresolved: bool
    """Whether planning errors were still found in it when the reflections were used up."""
    reviewed: bool
    """Whether it has passed the reflector (also when reflection is off or was skipped); false while the
    readings that it begins with are made first."""
    approval: Literal["", "wanted", "approved", "edited", "rejected"]
    """Where the person's approval stands; '' when none is asked for."""
    origin: str
    """Where the text comes from that stood in the thread when it was made: it may be under that influence."""


class PlanError(TypedDict):
    """One planning error that the reflector found."""

    error_type: str
    evidence: str
    risk: str


class PlanReview(TypedDict):
    """A diagnosis of one plan version (PreFlect 3.2.2)."""

    task: int
    round: int
    plan_version: int
    situation: str
    tool_notes: str
    signs: list[Json]
    """Verdicts on the signs seen: {sign, bears, handled_by}."""
    errors: list[PlanError]
    revised: bool
    changes: str
    skipped: str
    """Why no diagnosis was made ('' if one was)."""
    unresolved: bool
    runs: int
    """If unresolved, the version that goes on all the same; else 0."""


class Dispatch(TypedDict):
    """One subtask of the present wave and the number of its step."""

    subtask: str
    n: int


class Move(TypedDict):
    """What was proposed for one dispatch, as the proposal and the step that came of it hold it."""

    n: int
    subtask: str
    thought: str
    tool: str | None
    arguments: Json
    score: int
    evaluation: str
    expected: str
    surprise: Surprise
    """Of a proposal: the tool agent's judgement of the previous observation of this subtask."""
    shown: list[str]
    """Ids of the memories and results that stood in its prompt."""
    seconds: float
    usage: Usage


class Proposal(Move):
    """What the tool agent hands to the executor for one dispatch."""

    action: Literal["call", "finish", "replan", "none"]
    """'none': no usable proposal; the turn is a failed attempt, for the reason in `reason`."""
    finishes: bool
    result: str
    reason: str
    revisions: int
    rejected: list[Json]
    """Proposals that scored too low: {action, tool, arguments, evaluation, score}."""


class Deviation(TypedDict):
    """A significant deviation of what came from what was expected, and the reflection on it (SAMULE
    3.2.3)."""

    by: Literal["rules", "model"]
    """Who found it."""
    difference: str
    reflection: str
    replan: bool
    """Whether a new plan is asked for."""
    before: Surprise
    """The tool agent's own judgement of the observation before this one."""


class Step(Move):
    """One dispatch of one subtask, recorded whatever became of it. Readers sort by `n`."""

    task: int
    """Which task of the thread, from 1."""
    round: int
    plan_version: int
    wave: int
    """Which wave of the task, from 1: the steps of one wave ran side by side."""
    action: str
    observation: str
    ok: bool
    finished: bool
    """Whether the subtask was finished by it."""
    cause: str
    """'' if ok; else arguments, not_found, timeout, transport, tool, empty, repeat, rejected, proposal,
    replan, ..."""
    note: NotRequired[str]
    """The agent's own note in brackets before the observation, in a line of its own ('' or absent: none)."""
    origin: str
    """Where the observation comes from: user, file:NAME, web:HOST or tool:NAME, several joined by ', '; with
    'model' among them, a model wrote it about the others."""
    approval: NotRequired[Literal["", "approved", "approved all", "edited", "rejected"]]
    """What a person said of the call ('' if nobody was asked); `arguments` are those that were edited."""
    foresight: NotRequired[Deviation]
    """Where what came deviates significantly from what was expected."""
    sub_steps: list[Json]


class Result(TypedDict):
    """The result of a finished subtask."""

    n: int
    text: str
    origin: str


class ShortTerm(TypedDict):
    """MIRROR's short-term memory of one subtask (3.5): cleared when the subtask succeeds."""

    rejected: list[Json]
    """Proposals that scored below the threshold: {n, tool, arguments, evaluation, score}."""
    failures: list[Json]
    """Failed calls with their error text: {n, tool, arguments, cause, error}."""
    reflections: NotRequired[list[Json]]
    """Reflections on what came otherwise than expected (SAMULE 3.2.3): {n, text}."""


class LongTerm(TypedDict, total=False):
    """MIRROR's long-term memory of one round (3.5). Steps are named by number, not copied."""

    round: int
    origin: str
    """Where the text comes from that the round was made of."""
    plan: list[Json]
    steps: list[int]
    failures: dict[str, Json]
    """Execution failures by step number: {subtask, tool, cause, error}."""
    errors: list[Json]
    """Planning errors that the reflector found in the round's plans."""
    answer: str
    evaluation: str
    score: int
    reflection: str


class Replan(TypedDict):
    """A request for a new plan; the last one tells the planner why (PreFlect 3.3)."""

    n: int
    reason: str
    forced: bool
    kind: str
    """agent, attempts, repeat, surprise, cadence; checks: the answer agent added a subtask itself."""
    task: int


class ShownLesson(TypedDict):
    """A lesson from another task, as this task's prompts show it."""

    id: str
    text: str
    origin: str


class Lessons(TypedDict, total=False):
    """Lessons of earlier tasks in this one, and the lesson that it leaves itself."""

    shown: list[ShownLesson]
    """Chosen once, when the task begins."""
    due: bool
    """Whether the task has ended and its lesson is still to be kept."""
    kept: str
    """Id of the lesson that the task left ('': none)."""
    problem: str
    """Why there is none although something failed ('' or absent: there is, or nothing did)."""


class Decision(TypedDict):
    """What the replan trigger decided, and why."""

    to: Literal["planner", "reflector", "tools", "answer"]
    reason: str
    n: int


class Progress(TypedDict, total=False):
    """The task's counters: no loop runs without one."""

    task: int
    """Which task of the thread, from 1."""
    message_id: str
    """Id of the last human message taken as a task."""
    task_text: str
    """The task's text, to tell a new task from one that goes on."""
    base_n: int
    """Number of the last step sent before the task began."""
    start_n: int
    """Number of the last step sent before those that prompts know: before the task began, or, where rounds
    are not remembered, this round."""
    n: int
    """Number of the last step sent; runs on over the thread."""
    round: int
    waves: int
    replans: int
    rejection: str
    """Why a person rejected the last plan ('' if nobody did)."""
    planned_at: list[int]
    """Moves of the task that had been sent when each plan was made (the first is 0)."""
    round_n: int
    """Number of the last step sent before this round began."""
    discarded: list[str]
    """Ids of the results that the round's latest plan discarded."""
    version: int
    """Highest plan version of the task."""
    guidance: list[str]
    """The guidance of the task, to tell it from one that comes with the next task."""
    refused: str
    """Why the task was not taken on ('' or absent: it was)."""
    lost_files: int
    """How many files of a refused task could not be had: it can only be given again."""
    stopped: str
    """Which budget is spent: '', steps, moves, tokens, usd or seconds."""
    earlier: list[Json]
    """Earlier tasks of the thread and their answers: {task, answer, status}."""
    reflection: str
    """What it tells that the person asked for something else than was foreseen (SAMULE 3.2.3; absent: no)."""


class AgentInput(TypedDict, total=False):
    """What a client may send: a chat message, or a task with files."""

    messages: Annotated[list[AnyMessage], delta(join_messages)]
    """The conversation: a person's messages, the agent's calls with their results, its answers. The last
    human message is the task when `task` is not given. Its image, audio and file blocks, sent in base64,
    become files of the thread."""
    task: str
    """What is asked, in plain words."""
    files: Annotated[list[FileRef | str], merge_files]
    """Names of files in the operator's folder, or {name, data: base64}, or {name, hash} of a file stored
    before. They stay for the thread; the name "*" lets go of those given before."""
    guidance: list[str]
    """Corrections that hold for the whole task."""


class AgentOutput(TypedDict, total=False):
    """What a finished run returns to its client."""

    messages: Annotated[list[AnyMessage], delta(join_messages)]
    task: str
    answer: str
    sources: list[Source]
    status: Status
    draft: Draft
    plan: Annotated[Plan, delta(last)]
    plan_reviews: Annotated[list[PlanReview], delta(append)]
    trajectory: Annotated[list[Step], delta(append)]
    replans: Annotated[list[Replan], delta(append)]
    skipped: Annotated[list[Skip], delta(append)]
    """Mechanisms that rules of `effort` left out."""
    results: Annotated[dict[str, Result], delta(merge)]
    usage: Annotated[dict[str, Usage], add_usage]
    progress: Progress
    lessons: Lessons


class AgentState(AgentInput, AgentOutput, total=False):
    """All channels of the online graph."""

    look: Annotated[Look, delta(last)]
    """The first look at the thread's files."""

    statuses: Annotated[dict[str, SubtaskStatus], delta(merge)]
    """By subtask of the plan; absent: pending. Apart from it, since each wave changes some."""
    dispatch: list[Dispatch]
    proposals: Annotated[dict[str, Proposal], merge]
    short_term: Annotated[dict[str, ShortTerm], merge]
    long_term: Annotated[dict[str, LongTerm], delta(merge_rounds)]
    decision: Decision
    foreseen: Annotated[list[str], delta(append)]
    """Subtasks that were planned before anything came from outside, or that a person edited: nobody else can
    have put a tool, an address or a name there."""
