"""The documents' commands: each is parsed, and each runs that needs no trained model."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from forethought.app.commands import app
from forethought.app.debug.command import with_rerun_method
from forethought.app.files import with_all_files
from forethought.app.main import run_cli
from forethought.app.options import parse_set
from forethought.app.runner import Runner
from forethought.state.context import Context
from forethought.state.debugger import DebuggerContext
from forethought.state.learner import LearnerContext
from tests.support.documents_model import FAILS, DocumentsModel
from tests.support.model_server import ModelServer
from tests.support.pages import ROOT, Command, commands, examples, fences, split

OTHER_PROGRAMS = {".", "aegra", "cd", "export", "git", "pip"}
"""Programs that commands may call besides forethought, make and python. They are not run."""
CONTEXTS = {"debug": DebuggerContext, "learn": LearnerContext}
BATCH, RELIABILITY = "docs/how-to/batch.md", "docs/reliability.md"
NOT_RUN = {
    r"train (run|gate)|(run|learn) .*=local:": "tests/forethought/training/test_whole_path.py",
    r"eval run .*=local:": "tests/forethought/app/eval/test_samule.py",
    r"doctor --model": "tests/forethought/app/test_doctor.py",
}
"""Commands that are only parsed, since they need a model of their own, and the test that runs them."""
SHORTER = {
    r"eval run small-shop": ("--limit", "1", "--train", "1"),
    r"eval run": ("--limit", "1"),
    r"worker": ("--until-empty",),
}
"""What is added to commands that take minutes or never end."""
RAN = (0, 3, 4)
"""Exit codes of a command that ran: done, not passed, waits for a reply."""
QUESTION = {
    "_id": "h1",
    "question": "When was the town of the bridge founded?",
    "answer": "1450",
    "context": [["Bridge", ["The bridge is in Linz."]], ["Linz", ["Linz was founded in 1450."]]],
}
"""Of HotpotQA."""
BREAK_OFF = """

def _break_off() -> None:
    import os, signal, time
    if os.environ.pop("BREAK_OFF", ""):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
"""
"""Added to the pages' tools: the order that Ctrl-C interrupts, if the environment says so."""
Words = tuple[str, ...]
Run = Callable[..., tuple[int, str, str]]
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


def browse(address: str) -> None:
    """Open the viewer's page and stop the viewer, as soon as it serves."""

    def go() -> None:
        try:
            page = re.sub(r"//[^:]+:", "//127.0.0.1:", address)
            httpx.get(page, follow_redirects=True).raise_for_status()
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=go).start()


@pytest.fixture
def run(
    model_server: Callable[..., ModelServer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command in a folder that holds what the pages name: exit code, stdout, stderr."""
    shutil.copytree(ROOT / "demo/files", tmp_path / "demo/files")
    shutil.copy(ROOT / "demo/files/claims.xlsx", tmp_path / "costs.xlsx")
    shutil.copy(ROOT / "demo/files/travel-rules.pdf", tmp_path / "report.pdf")
    (tmp_path / "my_tools.py").write_text(
        examples()["my_tools"].replace("    return f", "    _break_off()\n    return f") + BREAK_OFF
    )
    (tmp_path / "rules.yaml").write_text(fences("docs/how-to/approvals.md", "yaml")[0])
    (tmp_path / "LOGS").write_text("\n".join(fences("docs/how-to/debug.md", "json")))
    (tmp_path / "tasks.jsonl").write_text(fences("docs/how-to/evaluate.md", "json")[0])
    (tmp_path / "contracts").mkdir()
    for number in range(40):
        (tmp_path / f"contracts/contract-{number}.txt").write_text(f"Contract {number}", "utf-8")
    (tmp_path / "DIR").mkdir()
    (tmp_path / "DIR/hotpot_dev_distractor_v1.json").write_text(json.dumps([QUESTION]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Runner, "confirm", lambda *_: True)
    monkeypatch.setattr("forethought.app.viewer.serve._has_browser", lambda: True)
    monkeypatch.setattr("webbrowser.open", browse)
    url = model_server(DocumentsModel()).url

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_EFFORT", "paper")  # answers are scored, so a task can fail
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        monkeypatch.setattr("sys.stdin", io.StringIO("sk-none-of-anybody\n"))
        monkeypatch.setattr(Runner, "interactive", arguments[0] == "chat")
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text("What is 40 + 2?\r/exit\r")
            code = run_cli(list(arguments))
        return code, *capsys.readouterr()

    return call


def failures(run: Run, pages: Callable[[str], bool], value: Callable[[str, Words], str]) -> list[str]:
    """What is wrong with the pages' commands, run in their order; `value` replaces a word."""
    failed = []
    for words in dict.fromkeys(command.words[1:] for command in OURS if pages(command.page)):
        line = shlex.join(words)
        if not any(re.match(pattern, line) for pattern in NOT_RUN):
            more = next((more for pattern, more in SHORTER.items() if re.match(pattern, line)), ())
            code, _, said = run(*(value(word, words) for word in words), *more)
            failed += [] if code in RAN else [f"{line}: exit code {code}: {said}"]
    return failed


def test_commands_run(run: Run) -> None:
    demo = json.loads(run("run", "--demo", "--json")[1])["thread_id"]
    Path("rules.txt").write_text("Cancelled orders never count.")
    run("experience", "import", "rules.txt")
    (kept,) = json.loads(run("experience", "list", "--json")[1])
    order = next(command.words[1:] for command in OURS if command.page == "docs/how-to/approvals.md")

    def value(word: str, words: Words) -> str:
        if word == "THREAD" and "--reply" in words:
            return str(json.loads(run(*order, "--json")[1])["thread_id"])
        return {"ID": demo, "THREAD": demo, "ADVICE": kept["id"], "TASK": FAILS}.get(word, word)

    assert failures(run, lambda page: page not in (BATCH, RELIABILITY), value) == []


def test_commands_of_batches_run(run: Run, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_DB", postgres)
    Path("tasks.jsonl").write_text('{"id": "ID", "task": "What is 6 times 7?"}')
    run("submit", "tasks.jsonl", "--batch", "BATCH", "--set", "approve_plan=true")
    assert failures(run, lambda page: page == BATCH, lambda word, words: word) == []


def test_commands_after_interruptions_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_TOOLS", "my_tools")

    def value(word: str, words: Words) -> str:
        if word != "THREAD":
            return word
        thread = f"t{len(words[-1])}"
        monkeypatch.setenv("BREAK_OFF", "1")
        assert run("run", "Order ten pieces of A-100.", "--thread", thread)[0] == 130
        assert "--reply" not in words or run("resume", thread)[0] == 4
        return thread

    assert failures(run, lambda page: page == RELIABILITY, value) == []


@pytest.mark.parametrize("pattern", [*NOT_RUN, *SHORTER])
def test_each_exception_is_of_a_command_that_is_there(pattern: str) -> None:
    assert any(re.match(pattern, shlex.join(command.words[1:])) for command in OURS)
    assert (ROOT / NOT_RUN.get(pattern, "")).exists()


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
