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
from forethought.state.experience import Experience
from forethought.state.folder import FolderRef
from forethought.state.grants import ReadGrants
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
    """Unique in a thread; the task, the plan and the tools use it."""
    hash: str
    """SHA-256 of the content in hexadecimal."""
    size: int
    """Bytes."""
    type: str
    """Media type."""
    data: str
    """The content in base64. Only a client's input has it: the first node moves it to the storage."""


class Call(TypedDict):
    """A call that a subtask begins with."""

    tool: str
    arguments: Json
    finishes: NotRequired[bool]
    """Whether its observation is the subtask's result (default). Otherwise a worker continues from it."""


class Subtask(TypedDict):
    """A node of the plan's dependency graph."""

    id: str
    description: str
    depends_on: list[str]
    call: NotRequired[Call | None]
    """The call that it begins with, without asking a model; None: its worker chooses."""
    expected: str
    """What its result should look like."""
    status: NotRequired[SubtaskStatus]
    """Set for prompts and clients. During the task only `statuses` has it."""


class Plan(TypedDict, total=False):
    """The plan in force."""

    version: int
    """1 for the task's first plan; a new plan or a revision by the reflector adds 1."""
    known: list[str]
    """Facts of the task and the files that constrain it, in the planner's words."""
    open: list[str]
    """What it has to find out."""
    subtasks: list[Subtask]
    evaluation: str
    """The defects that the planner named, one per line."""
    score: int
    """1 to 10, from these defects (MIRROR 3.4). The reflector's revisions have none."""
    revisions: int
    """How often the planner revised it before handing it over."""
    why: str
    """Why the planner made it."""
    guidance: list[str]
    """The guidance in force when it was made."""
    n: int
    """Number of the last step sent before it was made."""
    unresolved: bool
    """Whether planning errors remained after the last reflection."""
    reviewed: bool
    """Whether it has passed the reflector, or reflection is off or was skipped. False while the first
    readings are made."""
    approval: Literal["", "wanted", "approved", "edited", "rejected"]
    """The person's decision; '' if none is needed."""
    origin: str
    """Origins of the text that was in the thread when it was made, which may have influenced it."""


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
    errors: list[PlanError]
    revised: bool
    changes: str
    skipped: str
    """Why there was no diagnosis ('' if there was one)."""
    unresolved: bool
    runs: int
    """If unresolved, the version that runs all the same; else 0."""


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
    """In a proposal: how the tool agent judges the subtask's previous observation."""
    shown: list[str]
    """Ids of the memories and results in its prompt."""
    seconds: float
    usage: Usage


class Proposal(Move):
    """What the tool agent hands to the executor for one dispatch."""

    action: Literal["call", "finish", "replan", "none"]
    """'none': no usable proposal; the turn counts as a failed attempt, and `reason` says why."""
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
    """Whether it calls for a new plan."""
    before: Surprise
    """The tool agent's own judgement of the previous observation."""


class Step(Move):
    """One dispatch of one subtask, recorded whatever became of it. Readers sort by `n`."""

    task: int
    """Number of the task in the thread, from 1."""
    round: int
    plan_version: int
    wave: int
    """Number of the wave in the task, from 1. The steps of a wave ran in parallel."""
    action: str
    observation: str
    ok: bool
    finished: bool
    """Whether it finished its subtask."""
    cause: str
    """'' if ok; else arguments, not_found, timeout, transport, tool, empty, repeat, rejected, proposal,
    replan, ..."""
    note: NotRequired[str]
    """The agent's note, in brackets before the observation ('' or absent: none)."""
    origin: str
    """Where the observation comes from: user, file:NAME, web:HOST or tool:NAME, joined by ', '. With 'model',
    a model wrote it about the others."""
    approval: NotRequired[Literal["", "approved", "approved all", "edited", "rejected", "denied"]]
    """The decision on the call ('': no question; denied: by a rule; else by a person). `arguments` include
    the person's edits."""
    foresight: NotRequired[Deviation]
    """Set if the observation deviates significantly from the expected one."""
    sub_steps: list[Json]


class Result(TypedDict):
    """The result of a finished subtask."""

    n: int
    text: str
    origin: str


class ShortTerm(TypedDict):
    """MIRROR's short-term memory of one subtask (3.5): cleared when the subtask succeeds."""

    rejected: list[Json]
    """Proposals below the threshold: {n, tool, arguments, evaluation, score}."""
    failures: list[Json]
    """Failed calls and their errors: {n, tool, arguments, cause, error}."""
    reflections: NotRequired[list[Json]]
    """Reflections on unexpected observations (SAMULE 3.2.3): {n, text}."""


class LongTerm(TypedDict, total=False):
    """MIRROR's long-term memory of one round (3.5). Steps are named by number, not copied."""

    round: int
    origin: str
    """Origins of the text in the round."""
    plan: list[Json]
    steps: list[int]
    failures: dict[str, Json]
    """Failed steps by number: {subtask, tool, cause, error}."""
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
    """agent, attempts, repeat, surprise or cadence; checks: the answer agent added a subtask."""
    task: int


class Decision(TypedDict):
    """What the replan trigger decided, and why."""

    to: Literal["planner", "tools", "answer"]
    reason: str
    n: int


class Progress(TypedDict, total=False):
    """The task's counters: no loop runs without one."""

    task: int
    """Number of the task in the thread, from 1."""
    message_id: str
    """Id of the last human message that became a task."""
    task_text: str
    """The task's text, to tell a new task from a continued one."""
    base_n: int
    """Number of the last step before the task."""
    start_n: int
    """Number of the last step before those that prompts show: before the task or, without memory of rounds,
    before this round."""
    n: int
    """Number of the last step sent. It counts through the whole thread."""
    round: int
    waves: int
    replans: int
    rejection: str
    """Why a person rejected the last plan ('' if nobody did)."""
    planned_at: list[int]
    """Moves sent when each of the task's plans was made (0 for the first)."""
    round_n: int
    """Number of the last step before this round."""
    discarded: list[str]
    """Ids of the results that the round's latest plan discarded."""
    version: int
    """Highest plan version of the task."""
    guidance: list[str]
    """The task's guidance, to tell it from the next task's."""
    refused: str
    """Why the task was refused ('' or absent: it was not)."""
    lost_files: int
    """How many files of a refused task are unavailable. Send the task again with its files."""
    stopped: str
    """The exhausted budget: '', steps, moves, tokens, usd or seconds."""
    earlier: list[Json]
    """The thread's earlier tasks and answers: {task, answer, status}."""
    reflection: str
    """A reflection, if the person asked for something unforeseen (SAMULE 3.2.3); else absent."""


class AgentInput(TypedDict, total=False):
    """What a client may send: a chat message, or a task with files."""

    messages: Annotated[list[AnyMessage], delta(join_messages)]
    """The conversation. Without `task`, its last human message is the task, and base64 blocks are files."""
    task: str
    files: Annotated[list[FileRef | str], merge_files]
    """Names in the operator's folder, {name, data} with base64, or {name, hash} of a stored file. "*" removes
    earlier files."""
    folders: Annotated[list[FolderRef], merge_files]
    """Folders that are too large for `files`, indexed. "*" removes earlier ones."""
    guidance: list[str]
    """Corrections for the whole task."""


class AgentOutput(TypedDict, total=False):
    """What a finished run returns to its client."""

    messages: Annotated[list[AnyMessage], delta(join_messages)]
    task: str
    answer: str
    sources: list[Source]
    """Steps that the answer rests on."""
    status: Status
    draft: Draft
    """The best answer so far."""
    plan: Annotated[Plan, delta(last)]
    plan_reviews: Annotated[list[PlanReview], delta(append)]
    trajectory: Annotated[list[Step], delta(append)]
    replans: Annotated[list[Replan], delta(append)]
    skipped: Annotated[list[Skip], delta(append)]
    """Mechanisms that `effort` left out."""
    results: Annotated[dict[str, Result], delta(merge)]
    """By finished subtask."""
    usage: Annotated[dict[str, Usage], add_usage]
    """By role or mechanism."""
    progress: Progress
    experience: Experience


class AgentState(AgentInput, AgentOutput, total=False):
    """All channels of the online graph."""

    look: Annotated[Look, delta(last)]
    """The first look at the thread's files."""

    statuses: Annotated[dict[str, SubtaskStatus], delta(merge)]
    """By subtask; absent: pending."""
    dispatch: list[Dispatch]
    proposals: Annotated[dict[str, Proposal], merge]
    short_term: Annotated[dict[str, ShortTerm], merge]
    long_term: Annotated[dict[str, LongTerm], delta(merge_rounds)]
    decision: Decision
    foreseen: Annotated[list[str], delta(append)]
    """Subtasks of plans that a person approved or edited before any outside text came in."""
    grants: Annotated[ReadGrants, delta(last)]
    """The calls that the person asked for, as a model read them from the person's words alone."""
