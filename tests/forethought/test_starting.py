"""SIGTERM before a command has begun, in real processes that are held while they load what they need."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import Start

SCRIPT = """
import sys, time

held = sys.argv.pop(1)


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == held:
            print("loading", flush=True)
            time.sleep(60)


sys.meta_path.insert(0, Finder())
from forethought.app.main import main

main()
"""
LINE = "forethought: stopped by SIGTERM before anything was begun\n"


def terminated(python: Start, module: str, *arguments: str) -> subprocess.Popen[str]:
    """A command that is told to stop while it loads `module`."""
    process = python(SCRIPT, module, *arguments)
    assert process.stdout is not None
    assert process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGTERM)
    return process


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("typer", ["run", "a task"]),
        ("langgraph", ["run", "a task", "--json"]),
        ("langgraph", ["resume", "t1"]),
        ("langgraph", ["collect", "tasks.jsonl", "--out", "out"]),
        ("langgraph", ["worker"]),
        ("inspect_ai", ["eval", "run", "small-shop"]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_command_that_is_loading_ends_with_0_and_says_that_nothing_was_begun(
    python: Start, module: str, command: list[str], tmp_path: Path
) -> None:
    process = terminated(python, module, *command)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", LINE)


def test_a_command_that_drains_nothing_ends_by_the_signal(python: Start) -> None:
    process = terminated(python, "langgraph", "threads")
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (-signal.SIGTERM, "")
