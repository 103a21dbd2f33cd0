"""The reference pages, written from the code into docs/reference.

    python -m docs.write_reference            writes the pages
    python -m docs.write_reference --check    names the stale pages (exit code 1)

python.md is written by hand.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from forethought.app import report
from forethought.app.commands import app
from forethought.prompts import replies
from forethought.settings import VARIABLES, Settings
from forethought.state import (
    agent,
    context,
    cost,
    debugger,
    distiller,
    learner,
    offline,
    synthesizer,
)

FOLDER = Path(__file__).parent / "reference"
DEFAULTS = "Parentheses give the default, then other choices."
EVERYWHERE = {"--json", "--debug", "--help"}


def page(title: str, opening: str, parts: Iterable[str]) -> str:
    """A page: its title, an opening, and the parts that come after it."""
    return "\n\n".join([f"# {title}", opening, *parts]) + "\n"


def bullets(rows: Iterable[str]) -> str:
    """A list of the rows."""
    return "\n".join(f"- {row}" for row in rows)


def lines(rows: Iterable[str]) -> str:
    """The rows, a line each."""
    return "\\\n".join(rows)


# --- Context and Settings -----------------------------------------------------------------------------------


def fields(model: type[BaseModel], without: type[BaseModel] | None = None) -> str:
    """A model's fields: name, values, description. Of those in `without`, only what differs."""
    shared = without.model_fields if without else {}
    rows = []
    for name, field in model.model_fields.items():
        values, old = values_of(field), shared.get(name)
        text = "" if old and old.description == field.description else f": {field.description}"
        if text or not old or values != values_of(old):
            rows.append(f"`{name}`{values}{text}")
    return bullets(rows)


def values_of(field: FieldInfo) -> str:
    """The values that a field takes, in parentheses: the default, then others; '' if any."""
    default = {True: "on", False: "off"}.get(field.default, field.default) or ""
    others = "|".join(choice for choice in choices_of(field.annotation) if choice != default)
    notes = [str(note) for note in (default, others) if note]
    return f" ({'; '.join(notes)})" if notes else ""


def choices_of(annotation: Any) -> list[str]:
    """The values that an annotation lists."""
    kinds = (annotation, *get_args(annotation))
    return [str(choice) for kind in kinds if "Literal" in str(get_origin(kind)) for choice in get_args(kind)]


def context_page() -> str:
    """What a run may choose, of each graph."""
    others = [
        ("Debugger", debugger.DebuggerContext),
        ("Distiller", distiller.DistillerContext),
        ("Synthesizer", synthesizer.SynthesizerContext),
        ("Learner", learner.LearnerContext),
    ]
    parts = [
        fields(context.Context),
        "## Debugger, distiller, synthesizer and learner",
        fields(offline.OfflineContext),
    ]
    for title, model in others:
        parts += [f"### {title}", fields(model, without=offline.OfflineContext)]
    opening = (
        "A task's settings: `--set NAME=VALUE` on the command line, `Context(NAME=VALUE)` in Python, "
        f"Studio's form. {DEFAULTS}"
    )
    return page("Context", opening, parts)


def settings_page() -> str:
    """What the operator may choose."""
    rows = []
    for variable, name in VARIABLES.items():
        field = Settings.model_fields.get(name) or Settings.model_fields[name.lower()]
        values = "" if field.default_factory or field.is_required() else values_of(field)
        rows.append(f"`{variable}`{values}: {field.description}")
    opening = (
        "The operator's settings: environment variables, `.env`, or `forethought config set`. Python's "
        f"`Settings` takes lower-case names without `FORETHOUGHT_`. {DEFAULTS}"
    )
    return page("Settings", opening, [bullets(rows)])


# --- Commands -----------------------------------------------------------------------------------------------


def commands_page() -> str:
    """The commands, their arguments and flags; those that several share once."""
    found = list(commands(typer.main.get_command(app)))
    counts = Counter(described(param) for _, command in found for param in command.params)
    shared = {text for text, count in counts.items() if count > 1}
    parts = ["## Shared", lines(sorted(shared, key=lambda text: text.strip("`-").lower()))]
    for name, command in found:
        params = [param for param in command.params if param.opts[-1] not in EVERYWHERE]
        arguments = [argument_name(param) for param in params if not is_flag(param)]
        parts += [f"## {' '.join([name, *arguments])}", " ".join(command.help.split())]
        parts.append(lines(described(param) for param in params if described(param) not in shared))
    opening = "`forethought COMMAND --help` shows which shared flags it takes. Parentheses give the default."
    return page("Commands", opening, [part for part in parts if part])


def commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each command that does something, with its name."""
    below = getattr(command, "commands", {})
    if not below:
        yield path, command
    for name, one in below.items():
        yield from commands(one, f"{path} {name}".strip())


def is_flag(param: Any) -> bool:
    """Whether it begins with dashes."""
    return bool(param.opts[0].startswith("-"))


def argument_name(param: Any) -> str:
    """An argument as the usage line has it."""
    name = param.metavar or param.name.upper()
    return name if param.required else f"[{name}]"


def described(param: Any) -> str:
    """An argument or a flag: its names, what it takes, its default, its help."""
    if not is_flag(param):
        return f"`{argument_name(param)}`: {param.help}"
    takes = choices_of(param.type_descriptor.annotation)
    value = "" if param.is_flag else "=" + (param.metavar or "|".join(takes))
    default = str(param.default) if param.default not in (None, False, "", ()) else ""
    default = param.show_default if isinstance(param.show_default, str) else default
    note = "required" if param.required else default
    return f"`{'|'.join(param.opts)}{value}`{f' ({note})' if note else ''}: {param.help}"


# --- State, replies and --json ------------------------------------------------------------------------------


def classes(module: ModuleType) -> dict[str, ast.ClassDef]:
    """The classes of a module's source, by name."""
    body = ast.parse(inspect.getsource(module)).body
    return {node.name: node for node in body if isinstance(node, ast.ClassDef)}


def attributes(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """The attributes of a class: name, type, the docstring below ('' without one)."""
    for at, line in enumerate(node.body):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            below = node.body[at + 1] if at + 1 < len(node.body) else None
            text = (
                below.value.value
                if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                else ""
            )
            yield line.target.id, type_name(line.annotation), " ".join(str(text).split())


def type_name(annotation: ast.expr) -> str:
    """A type as a reader wants it: without reducers and the like, choices bare, no spaces."""
    if isinstance(annotation, ast.Subscript):
        outer, inner = ast.unparse(annotation.slice), annotation.slice
        match ast.unparse(annotation.value):
            case "Annotated":
                return type_name(inner.elts[0]) if isinstance(inner, ast.Tuple) else outer
            case "NotRequired" | "SkipJsonSchema":
                return type_name(inner)
            case "Literal":
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return "|".join(str(ast.literal_eval(item)) for item in items if ast.literal_eval(item))
            case "ListOf":
                return f"list[{type_name(inner)}]"
    text = ast.unparse(annotation).replace(" ", "").replace("AnyMessage", "message")
    text = re.sub(r"\b(Text|Shown)\b", "str", text)
    return re.sub(r"\bFlag\b", "bool", re.sub(r"\bJson\b", "dict", text))


def channels(module: ModuleType, name: str) -> str:
    """A class's channels: name, type, meaning; neighbours without meaning share a row. A record in an output
    has none here: its class says it."""
    rows: list[tuple[str, str]] = []
    for channel, kind, text in attributes(classes(module)[name]):
        kind = "|".join(choices_of(getattr(module, kind, None))) or kind
        is_record = re.search(r"[A-Z]\w", kind.replace("None", ""))
        label = f"`{channel}`" + (f" ({kind})" if is_record or re.match("int|float|.*[|]", kind) else "")
        meaning = "" if is_record and name.endswith("Output") else text
        if rows and not meaning and not rows[-1][1]:
            label = f"{rows.pop()[0]}, {label}"
        rows.append((label, meaning))
    return bullets(f"{label}: {meaning}" if meaning else label for label, meaning in rows)


def records(*roots: type) -> str:
    """The records that the roots' channels hold, at any depth: their names and fields."""
    found = {kind.__name__: get_type_hints(kind) for root in roots for kind in held(get_type_hints(root))}
    return bullets(f"`{name}`: {', '.join(f'`{field}`' for field in own)}" for name, own in found.items())


def held(hints: Mapping[str, Any]) -> Iterator[type]:
    """The records that annotations name."""
    for hint in hints.values():
        if is_typeddict(hint):
            yield hint
            yield from held(get_type_hints(hint))
        yield from held(dict(enumerate(get_args(hint))))


def state_page() -> str:
    """The channels that clients see of each graph, and the agent's records."""
    parts = []
    for title, module in (
        ("Agent", agent),
        ("Debugger", debugger),
        ("Distiller", distiller),
        ("Synthesizer", synthesizer),
        ("Learner", learner),
    ):
        parts += [f"## {title}", "Input:", channels(module, f"{title}Input")]
        parts += ["Output:", channels(module, f"{title}Output")]
    inside = ", ".join(f"`{name}`" for name, _, _ in attributes(classes(agent)["AgentState"]))
    parts += [
        "## The agent's records",
        records(agent.AgentInput, agent.AgentOutput),
        f"Further channels of the agent: {inside}.",
    ]
    opening = (
        "Each graph's channels, in JSON. [forethought/state](../../forethought/state) says what the records "
        "mean."
    )
    return page("State", opening, parts)


def replies_page() -> str:
    """The agent's replies and their fields."""
    rows = []
    for name, node in classes(replies).items():
        kind = getattr(replies, name)
        own = [field for field, _, _ in attributes(node) if field not in kind.__base__.model_fields]
        if own:
            rows.append(f"`{name}`: {', '.join(reply_field(kind, field) for field in own)}")
    opening = (
        "The JSON objects that the agent's models reply with, and their values in parentheses. "
        "[prompts](../../prompts) has those of the other graphs."
    )
    return page("Replies", opening, [bullets(rows)])


def reply_field(kind: type[BaseModel], name: str) -> str:
    """A field, with the values that its type lists."""
    choices = choices_of(kind.model_fields[name].annotation)
    return f"`{name}`" + (f" ({'|'.join(choices)})" if choices else "")


def json_page() -> str:
    """What `--json` prints."""
    opening = "`run`, `resume`, `fork` and `show` print this object with `--json`."
    parts = [channels(report, "Report"), "A row of `cost`:", channels(cost, "CostRow")]
    return page("JSON output", opening, parts)


PAGES: dict[str, Callable[[], str]] = {
    "context.md": context_page,
    "settings.md": settings_page,
    "commands.md": commands_page,
    "state.md": state_page,
    "replies.md": replies_page,
    "json.md": json_page,
}


def stale() -> list[str]:
    """The names of the pages that are not what the code says."""
    return [
        name
        for name, text in PAGES.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text("utf-8") != text()
    ]


def main() -> int:
    """0, or 1 with one line on stderr."""
    parser = argparse.ArgumentParser(description="Write docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a page is stale")
    if parser.parse_args().check:
        names = stale()
        if names:
            print(f"stale: {', '.join(names)}; run: python -m docs.write_reference", file=sys.stderr)
        return 1 if names else 0
    FOLDER.mkdir(exist_ok=True)
    for name, text in PAGES.items():
        (FOLDER / name).write_text(text(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
