"""The documents: their links, commands and examples are true, and together they are short."""

from __future__ import annotations

import importlib.util
import inspect
import io
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from markdown_it import MarkdownIt
from markdown_it.token import Token

import forethought
from docs.write_reference import PAGES as WRITTEN
from docs.write_reference import stale
from forethought.app.commands import app
from forethought.app.debug.command import with_rerun_method
from forethought.app.files import with_all_files
from forethought.app.main import run_cli
from forethought.app.options import parse_set
from forethought.state.context import Context
from forethought.state.debugger import DebuggerContext
from forethought.state.distiller import DistillerContext
from forethought.state.synthesizer import SynthesizerContext

ROOT = Path(__file__).parents[1]
MOST_WORDS = 19_700
"""Of all documents together."""
MOST_LINES = 150
"""Of README.md."""
OTHER_PROGRAMS = {
    ".", "aegra", "cat", "cd", "cp", "curl", "docker", "echo", "export", "git", "inspect", "jq", "kubectl",
    "ls", "mkdir", "openssl", "pip", "psql", "uv",
}  # fmt: skip
"""Programs that commands may call besides forethought, make and python."""
CONTEXTS = {"debug": DebuggerContext, "distill": DistillerContext, "synthesize": SynthesizerContext}
QUICK = re.compile(
    r"(doctor|config (set|show|path|unset)|threads|show|eval list|lessons list|trajectories schema)$"
)
"""Commands that run without a key, a model or a file of the reader's."""


class Command(NamedTuple):
    """A command of a page."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def pages() -> list[str]:
    """The documents, as paths from the root."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


@cache
def tokens(page: str) -> list[Token]:
    """A page as its parts."""
    return MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text("utf-8"))


def fences(page: str, language: str) -> list[str]:
    """The page's code blocks in a language."""
    return [token.content for token in tokens(page) if token.type == "fence" and token.info == language]


def commands() -> Iterator[Command]:
    """The commands in the blocks of shell, without prompts, assignments and redirections."""
    for page in pages():
        for block in fences(page, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                for words in split(line):
                    yield Command(page, words)


def split(line: str) -> Iterator[tuple[str, ...]]:
    """The commands of a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    redirected = False
    for word in [*lexer, ";"]:
        if word in ("|", "||", "&", "&&", ";"):
            if words:
                yield tuple(words)
            words = []
        elif word in (">", ">>", "<"):
            redirected = True
        elif redirected:
            redirected = False
        elif words or not re.match(r"[A-Z_]+=", word):
            words.append(word.removeprefix(".venv/bin/") if not words else word)


OURS = [command for command in commands() if command.words[0] == "forethought"]


# --- Links and sizes ----------------------------------------------------------------------------------------


def links(page: str) -> list[str]:
    """Where the page's links and pictures lead."""
    children = [child for token in tokens(page) for child in token.children or []]
    return [str(child.attrs[name]) for child in children for name in ("href", "src") if name in child.attrs]


@cache
def anchors(page: str) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    found: list[str] = []
    for at, token in enumerate(tokens(page)):
        if token.type == "heading_open":
            children = tokens(page)[at + 1].children or []
            text = "".join(child.content for child in children if child.type in ("text", "code_inline"))
            found.append(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    seen: Counter[str] = Counter()
    unique = set()
    for slug in found:
        unique.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return unique


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    broken = []
    for link in links(page):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        name = str(target.resolve().relative_to(ROOT))
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(name)):
            broken.append(link)
    assert broken == []


def test_the_documents_are_short() -> None:
    words = {page: len((ROOT / page).read_text("utf-8").split()) for page in pages()}
    assert sum(words.values()) <= MOST_WORDS, words
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= MOST_LINES


# --- The reference ------------------------------------------------------------------------------------------


def test_the_reference_is_what_the_code_says() -> None:
    assert stale() == [], "run: python -m docs.write_reference"
    assert {path.name for path in (ROOT / "docs/reference").iterdir()} == {*WRITTEN, "python.md"}


def test_the_page_on_python_describes_every_public_name_and_argument() -> None:
    page = (ROOT / "docs/reference/python.md").read_text("utf-8")
    titles = re.findall(r"`(\w+)`", " ".join(re.findall(r"^## (.*)$", page, re.M)))
    assert sorted(titles) == sorted(forethought.__all__)
    assert re.findall(r"^    (\w+),$", page, re.M)[: len(titles)] == forethought.__all__
    section = page.split("## `build_agent`")[1].split("\n## ")[0]
    arguments = re.findall(r"^- `(\w+)`:", section, re.M)
    assert arguments == list(inspect.signature(forethought.build_agent).parameters)
    assert all(hasattr(forethought, name) for name in forethought.__all__)


# --- Commands -----------------------------------------------------------------------------------------------


def parsed(words: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """The command's name and its parameters. Raises what the parser raises."""
    command: Any = typer.main.get_command(app)
    arguments = with_rerun_method(with_all_files(words[1:]))
    name = ""
    while below := getattr(command, "commands", None):
        if not arguments or arguments[0].startswith("-"):
            break
        assert arguments[0] in below, f"there is no command {arguments[0]}"
        command, name = below[arguments[0]], f"{name} {arguments[0]}".strip()
        arguments = arguments[1:]
    if {"--help", "--version"} & {*arguments}:
        return name, {}
    return name, command.make_context(name, arguments).params


def problem(command: Command) -> str:
    """What is wrong with a command of ours; '' if nothing is."""
    try:
        name, given = parsed(command.words)
        for item in given.get("sets") or ():
            parse_set(item, CONTEXTS.get(name, Context))
    except Exception as error:
        return f"{command}: {getattr(error, 'message', None) or error}"
    return ""


def test_the_parser_takes_every_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forethought.app.files._is_there", lambda text: re.search(r"[.*/]", text))
    assert [line for command in OURS if (line := problem(command))] == []


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("forethought run task --no-such-flag", "No such option"),
        ("forethought fork ID", "before"),
        ("forethought gone", "there is no command gone"),
        ("forethought run task --set max_step=3", "did you mean max_steps"),
        ("forethought debug ID --set flip_rate=0.4 --rerun", ""),
        ("X=1 .venv/bin/forethought run 'a task' --file a.pdf b.pdf --json | jq .answer > out # note", ""),
    ],
)
def test_a_wrong_command_is_found(line: str, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forethought.app.files._is_there", lambda text: "." in text)
    found = problem(Command("page", next(split(line))))
    assert error in found
    assert bool(error) == bool(found)


@pytest.fixture(scope="module")
def recorded_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder that holds the demo's thread, and the thread's id."""
    folder = tmp_path_factory.mktemp("documents")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setenv("FORETHOUGHT_DATA_DIR", str(folder))
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        with redirect_stderr(io.StringIO()):
            assert run_cli(["run", "--demo", "--json"]) == 0
    return folder, json.loads(out.getvalue())["thread_id"]


def test_quick_commands_run(
    recorded_demo: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, thread = recorded_demo
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORETHOUGHT_DATA_DIR", str(folder))
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-none-of-anybody\n" * 100))
    failed = []
    for words in dict.fromkeys(command.words for command in OURS):
        name, given = parsed(words)
        arguments = [thread if word == given.get("thread") else word for word in words[1:]]
        runs = {"--help", "--version"} & {*words} or QUICK.match(name) or words[1:] == ("run", "--demo")
        if runs and "--db" not in words and (code := run_cli(arguments)) != 0:
            failed.append(f"{shlex.join(words)}: exit code {code}: {capsys.readouterr().err}")
    assert failed == []


def test_what_other_commands_call_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    missing = []
    for command in commands():
        program, *rest = command.words
        if program == "make":
            names = [word for word in rest if "=" not in word and not word.startswith("-")]
            missing += [f"{command}: no target {name}" for name in names if name not in targets]
        elif program in ("python", "python3"):
            missing += [f"{command}: {why}" for why in wrong_module(rest)]
        elif program != "forethought" and program not in OTHER_PROGRAMS:
            missing.append(f"{command}: {program} is not in OTHER_PROGRAMS")
    assert missing == []


def wrong_module(words: list[str]) -> list[str]:
    """What is wrong with the arguments of Python: no such file, no such module, no such flag."""
    if words[:1] != ["-m"]:
        return [f"no file {name}" for name in words[:1] if not (ROOT / name).exists()]
    spec = importlib.util.find_spec(words[1])
    if spec and spec.submodule_search_locations:
        spec = importlib.util.find_spec(f"{words[1]}.__main__")
    if not spec or not spec.origin:
        return [f"no module {words[1]}"]
    if not spec.origin.startswith(str(ROOT)):
        return []
    flags = [word.partition("=")[0] for word in words[2:] if word.startswith("--")]
    return [f"no flag {flag}" for flag in flags if f'"{flag}"' not in Path(spec.origin).read_text("utf-8")]


# --- Examples -----------------------------------------------------------------------------------------------


def examples() -> dict[str, str]:
    """The blocks of Python by a module's name: the one that a first line says, or the page's and a number."""
    return {
        named[1]
        if (named := re.match(r"# (\w+)\.py\n", block))
        else re.sub(r"\W", "_", page.removesuffix(".md")) + f"_{number}": block
        for page in pages()
        for number, block in enumerate(fences(page, "python"))
    }


def test_the_python_passes_mypy_as_strict_and_without_a_plugin(tmp_path: Path) -> None:
    assert "plugins" not in (ROOT / "pyproject.toml").read_text("utf-8")
    for name, block in examples().items():
        (tmp_path / f"{name}.py").write_text(block)
    wrong = 'from forethought import Context\n\nContext(max_usd="much")\nContext(model=3)\n'
    (tmp_path / "wrong.py").write_text(wrong)
    # In the project's own cache, where `make check` leaves what it knows of the package.
    command = (sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error" in line]
    assert len(errors) == 2, done.stdout + done.stderr
    assert all("wrong.py" in line for line in errors), done.stdout


@pytest.mark.parametrize("page", pages())
def test_the_json_can_be_read(page: str) -> None:
    for block in fences(page, "json"):
        try:
            json.loads(block)
        except ValueError:  # JSON Lines
            assert [json.loads(line) for line in block.splitlines()]
