"""What a tool is: a typed async function whose docstring is what the model reads.

    @tool(effect="read", timeout_s=20)
    async def lookup(env: ToolEnv, name: str, year: int | None = None) -> str:
        '''Look a person up in the staff register.

        Args:
            name: Full name.
            year: Only this year, or null for all.
        '''

The first parameter `env` is optional and is not shown to the model. A tool returns text or an `Observation`,
and raises `ToolError` when the world does not play along: `tools.call.call_tool` turns that, a timeout, wrong
arguments and any other exception into an observation with a cause and a hint, so that a tool never ends a
run.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config
from langchain_core.tools import BaseTool
from langchain_core.tools.base import create_schema_from_function
from pydantic import BaseModel, create_model
from typing_extensions import TypedDict, Unpack

from forethought.sizes import Sizes
from forethought.text import one_line

if TYPE_CHECKING:
    from forethought.models.types import Image, Usage
    from forethought.settings import Settings
    from forethought.tools.each.fields import FieldSpec
    from forethought.tools.files import FileStore
    from forethought.tools.folders.given import Folders

Effect = Literal["read", "write", "egress"]
CONTENT = (
    "body",
    "caption",
    "comment",
    "content",
    "description",
    "message",
    "note",
    "notes",
    "reason",
    "subject",
    "summary",
    "text",
)
"""Argument names that count as `content` without a declaration."""
_BRIEF = 400
"""Maximum characters of a tool's one-line description."""


@dataclass(frozen=True)
class Observation:
    """What came of a call. `origin` is user, file:NAME, web:HOST or tool:NAME ('' means tool:NAME of the tool
    called)."""

    text: str
    ok: bool = True
    cause: str = ""
    """'' if ok; else arguments, not_found, timeout, transport, empty, limit, unavailable, tool."""
    hint: str = ""
    origin: str = ""
    retryable: bool = False
    """Whether the same call may succeed when repeated (a transport failure)."""
    partial: bool = False
    """Whether there is more than `text` shows (a part of a long document)."""


class ToolError(Exception):
    """A failed call: `message` says what happened, `hint` what to do instead."""

    def __init__(self, message: str, *, cause: str = "tool", hint: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message, self.cause, self.hint, self.retryable = message, cause, hint, retryable


class DocumentAnswer(Protocol):
    """An inspector's answer: details and context may be empty."""

    brief: str
    details: str
    context: str


Inspector = Callable[[str, str, str], Awaitable[DocumentAnswer]]
"""Answers a question about a text with the run's model (PreFlect A.2): question, text, the file's name."""


class ReadQuestion(Protocol):
    """Puts one question about several texts to a model, for the tool read_each."""

    models: tuple[str, str]
    """The model that reads, and the one that reads again."""
    most_files: int
    """Files from which the person is asked."""
    call: str
    """The thread's id and the number of the step."""

    async def __call__(
        self, question: str, fields: Sequence[FieldSpec], texts: Sequence[tuple[str, str]], again: bool
    ) -> list[Mapping[str, Any] | None]:
        """Read texts, {name, text} each.

        Returns:
            For each text a {value, quote} by field, or None if the model left it out.

        Raises:
            ToolError: The budget is spent (limit), or no model answers.
        """
        ...

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of a reading; None if nobody knows."""
        ...

    def progress(self, done: int, total: int, doubtful: int) -> None:
        """Tell the run's watchers how far the reading is."""
        ...


@dataclass(frozen=True)
class ToolEnv:
    """What a tool may use of the run: its files, the finished results, the operator's settings, the model."""

    settings: Settings
    files: Mapping[str, str] = field(default_factory=dict)
    """Name -> content hash of the files given to the run; nothing else can be read."""
    folders: Folders | None = None
    """All files of the run, to be listed and searched; those of folders are among `files`, too."""
    results: Mapping[str, str] = field(default_factory=dict)
    """Subtask id -> its result's text."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Subtask id -> where its result comes from."""
    store: FileStore | None = None
    inspect: Inspector | None = None
    look: Callable[[str, Image, str], Awaitable[DocumentAnswer]] | None = None
    """Looks at an image with the run's vision model (PreFlect A.2): question ('' to describe it), image, the
    file's name."""
    read: ReadQuestion | None = None
    """Reads many files with the run's reader model."""
    tables: Mapping[str, str] = field(default_factory=dict)
    """Keys of the tables that read_each has made in the thread, by name."""
    ask: Callable[[str, list[str]], str] | None = None
    """Asks the person (an interrupt): question and choices -> the answer."""
    call: Callable[[str, dict[str, Any]], Coroutine[Any, Any, Observation]] | None = None
    """Makes a call for a program of the python tool (PreFlect's code actions): name and arguments -> what
    came of it."""
    offered: Mapping[str, Tool] = field(default_factory=dict)
    """The tools that `call` may call."""
    book: Callable[[Usage], None] | None = None
    """Records what a tool itself paid for; `inspect` and `look` record their own cost."""
    sizes: Sizes = field(default_factory=Sizes)
    """Maximum lengths of an observation and of a part of a document."""
    call_id: str = ""
    """An idempotency key for what the call changes: the same when a broken-off call is made again."""
    same_host_only: bool = False
    """Whether a redirect to another host is refused: the address was the model's own, and a person approved
    that one only."""


@dataclass(frozen=True)
class Tool:
    """A tool as the agent knows it."""

    name: str
    description: str
    """What the calling model reads."""
    arguments: type[BaseModel]
    run: Callable[..., Awaitable[str | Observation]]
    """Called as run(env, **arguments)."""
    effect: Effect = "read"
    timeout_s: float = 60.0
    """0: no limit."""
    retryable: bool = False
    """Whether the same call may be made again after a transport failure (never one that writes)."""
    media: tuple[str, ...] = ()
    """Of a tool that works on given files only: how the media type of such a file begins; '' for any file.
    Without such a file it is not offered."""
    address: str | None = None
    """For effect egress: the one argument that leaves the machine, an address; None: all of them may."""
    outside: bool = True
    """Whether what it returns may hold text from elsewhere; False: it only computes, asks the user, or reads
    a register in which nobody else writes."""
    private: bool = True
    """Whether what it returns is the user's own; False: anybody may read it."""
    content: tuple[str, ...] = CONTENT
    """Arguments that are content only: they decide neither where a call goes nor whom it serves."""
    record_id: str = ""
    """Key under which its results, JSON or YAML, hold the ids that it gives its records ('': none)."""
    asks_person: bool = False
    """Whether it waits for a person's answer."""
    runs_code: bool = False
    """Whether it runs a program, which may call the reading tools."""
    needs: Literal["", "folder", "long file", "many files", "tables"] = ""
    """Of a tool that works on given files: offered only with a folder, or with a folder or such a file."""
    foreign: bool = False
    """Whether name, description and schema are someone else's (an MCP server's): data, for a prompt."""
    summary: str = ""
    """What the planner reads; '': the first sentence of the description."""

    @property
    def brief(self) -> str:
        """What it is for, in a line."""
        first = re.split(r"(?<=[.;])\s", self.description, maxsplit=1)[0]
        return one_line(self.summary or first, _BRIEF)

    @property
    def only_fetches(self) -> bool:
        """Whether it changes nothing, and sends nothing out but an address."""
        return self.effect == "read" or (self.effect == "egress" and self.address is not None)

    @property
    def repeatable(self) -> bool:
        """Whether a call may be made again when nobody knows how far it came: it changes nothing. What is
        sent out changes nothing where the tool says that it may be sent twice."""
        return self.effect == "read" or (self.effect == "egress" and self.retryable)


class ToolOptions(TypedDict, total=False):
    """What the author of a tool may say of it: the fields of `Tool` of these names."""

    effect: Effect
    timeout_s: float
    retryable: bool
    media: tuple[str, ...]
    address: str | None
    outside: bool
    private: bool
    content: tuple[str, ...]
    record_id: str
    asks_person: bool
    runs_code: bool
    needs: Literal["", "folder", "long file", "many files", "tables"]


Function = TypeVar("Function", bound=Callable[..., Any])
_OPTIONS = "__tool_options__"
"""Attribute under which `tool` leaves its options for `make_tool`."""


def tool(**options: Unpack[ToolOptions]) -> Callable[[Function], Function]:
    """Declare what kind of tool a function is; the function itself stays as it is."""

    def mark(function: Function) -> Function:
        setattr(function, _OPTIONS, options)
        return function

    return mark


def make_tool(function: Callable[..., Any] | BaseTool, **options: Unpack[ToolOptions]) -> Tool:
    """Build a Tool from a typed function with a docstring (Google style `Args:`), or from LangChain's tool.

    A plain function runs in a thread. Options given here go before those of the decorator `tool`, and before
    what the metadata of LangChain's tool says. Raises ValueError when the function has no docstring, an
    argument has no type, or `address` or `content` names none.
    """
    if isinstance(function, BaseTool):
        from forethought.tools.langchain_tool import from_langchain

        return _with_known_names(from_langchain(function, **options))
    name = function.__name__
    document = inspect.getdoc(function)
    if not document:
        raise ValueError(f"tool {name} has no docstring: add one that tells the model what it does")
    parameters = list(inspect.signature(function).parameters.values())
    untyped = [p.name for p in parameters if p.annotation is inspect.Parameter.empty and p.name != "env"]
    if untyped:
        raise ValueError(f"tool {name}: argument {untyped[0]} has no type: add an annotation")
    declared: ToolOptions = {**getattr(function, _OPTIONS, {}), **options}
    with_env = bool(parameters) and parameters[0].name == "env"
    schema: Any = create_schema_from_function(
        name,
        function,
        filter_args=["env"] if with_env else [],
        parse_docstring=True,
        error_on_invalid_docstring=False,
    )
    made = Tool(
        name=name,
        description=document.split("\n\nArgs:")[0].strip(),
        arguments=closed(name, schema),
        run=_runner(function, with_env),
        **declared,
    )
    return _with_known_names(made)


def closed(name: str, schema: type[BaseModel]) -> type[BaseModel]:
    """`schema` without room for unknown arguments, so that a misspelt one is not dropped in silence."""
    return create_model(name, __base__=schema, __config__=None, __cls_kwargs__={"extra": "forbid"})


def _with_known_names(made: Tool) -> Tool:
    """`made`, whose options name only arguments that it has. Raises ValueError."""
    content = () if made.content is CONTENT else made.content
    named = made.arguments.model_json_schema().get("properties", {})
    if unknown := {made.address or "", *content} - {*named, ""}:
        raise ValueError(
            f"tool {made.name}: address or content names {min(unknown)!r}, which is not an argument of it"
        )
    return made


def _runner(function: Callable[..., Any], with_env: bool) -> Callable[..., Awaitable[str | Observation]]:
    """Calls `function`, and tells the run's callbacks, as a tool of LangChain's does."""

    def call(arguments: Mapping[str, Any]) -> Any:
        try:
            return function(**arguments)
        except StopIteration as error:  # cannot leave a thread through a future: the call would never end
            raise RuntimeError(f"StopIteration: {error}".removesuffix(": ")) from error

    async def run(env: ToolEnv, /, **arguments: Any) -> str | Observation:
        given = {"env": env, **arguments} if with_env else arguments
        manager = get_async_callback_manager_for_config(ensure_config())
        described = {"name": function.__name__, "description": inspect.getdoc(function)}
        told = await manager.on_tool_start(
            described, str(arguments), inputs=arguments, name=function.__name__
        )
        try:
            result: str | Observation = (
                await function(**given)
                if inspect.iscoroutinefunction(function)
                else await asyncio.to_thread(call, given)
            )
        except BaseException as error:
            await told.on_tool_error(error)
            raise
        await told.on_tool_end(result.text if isinstance(result, Observation) else result)
        return result

    return run
