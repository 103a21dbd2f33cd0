"""The documents' commands: each is parsed, and each that needs nothing of the reader's runs."""

from __future__ import annotations

import importlib.util
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from forethought.app.commands import app
from forethought.app.debug.command import with_rerun_method
from forethought.app.files import with_all_files
from forethought.app.main import run_cli
from forethought.app.options import parse_set
from forethought.state.context import Context
from forethought.state.debugger import DebuggerContext
from forethought.state.distiller import DistillerContext
from forethought.state.synthesizer import SynthesizerContext
from tests.forethought.app.debug_script import DebugScript
from tests.support.model_server import ModelServer, SeenRequest
from tests.support.pages import ROOT, Command, commands, examples, fences, split
from tests.support.replies import lesson

OTHER_PROGRAMS = {".", "aegra", "cd", "export", "git", "pip"}
"""Programs that commands may call besides forethought, make and python. They are not run."""
CONTEXTS = {"debug": DebuggerContext, "distill": DistillerContext, "synthesize": SynthesizerContext}
NOT_RUN = {
    r"chat": "needs a terminal",
    r"view": "serves until Ctrl-C",
    r"worker|submit|jobs|.* BATCH:ID": "needs Postgres",
    r"train|.*retrospective_model=local": "needs a trained model",
    r"resume .*--reply '(it happened|do it again|give up)": "needs a change that a kill interrupted",
    r"eval (run|report|compare)|(debug|threads --db) runs/": "needs an evaluation, which takes minutes",
    r"distill|synthesize": "needs tasks that some runs solved and others did not",
}
"""Commands that are only parsed, and why. Other tests run them."""
RAN = (0, 3, 4)
"""Exit codes of a command that ran: done, not passed, waits for a reply."""
OURS = [command for command in commands() if command.words[0] == "forethought"]


# --- Parsing ------------------------------------------------------------------------------------------------


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


# --- Running ------------------------------------------------------------------------------------------------


class Model(DebugScript):
    """The agent, the debugger and the judge of the documents' tasks."""

    def judgement(self, seen: SeenRequest) -> dict[str, Any]:
        """No answer is right."""
        return {"reasoning": "it is another answer", "correct": False}

    def lessondraft(self, seen: SeenRequest) -> dict[str, Any]:
        """The lesson of a failed task."""
        return lesson("The task was done unread.", "Read the task first.")


@pytest.fixture
def run(
    model_server: Callable[..., ModelServer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in a folder that holds what the pages name: exit code, stdout, stderr."""
    shutil.copytree(ROOT / "demo/files", tmp_path / "demo/files")
    (tmp_path / "my_tools.py").write_text(examples()["my_tools"])
    (tmp_path / "LOGS").write_text("\n".join(fences("docs/how-to/debug.md", "json")))
    (tmp_path / "tasks.jsonl").write_text('{"task": "What is 6 times 7?", "expected": ["42"]}\n')
    monkeypatch.chdir(tmp_path)
    url = model_server(Model(answer_score=3)).url

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_EFFORT", "paper")  # answers are scored, so a task can fail
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        monkeypatch.setattr("sys.stdin", io.StringIO("sk-none-of-anybody\n"))
        code = run_cli(list(arguments))
        return code, *capsys.readouterr()

    return call


def test_commands_run(run: Callable[..., tuple[int, str, str]]) -> None:
    thread = json.loads(run("run", "--demo", "--json")[1])["thread_id"]
    run("run", "TASK", "--set", "lessons=true")
    (kept,) = json.loads(run("lessons", "list", "--json")[1])
    values = {"ID": thread, "THREAD": thread, "LESSON": kept["id"]}
    failed = []
    for words in dict.fromkeys(command.words[1:] for command in OURS):
        if not any(re.match(pattern, shlex.join(words)) for pattern in NOT_RUN):
            if words[0] == "resume":
                waiting = run("run", "TASK", "--set", "approve_plan=true", "--json")[1]
                values["THREAD"] = json.loads(waiting)["thread_id"]
            code, _, said = run(*(values.get(word, word) for word in words))
            failed += [] if code in RAN else [f"{shlex.join(words)}: exit code {code}: {said}"]
    assert failed == []


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_each_reason_not_to_run_a_command_has_a_command(pattern: str) -> None:
    assert any(re.match(pattern, shlex.join(command.words[1:])) for command in OURS)


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
