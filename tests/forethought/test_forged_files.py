"""Files of other people's making: each reader reads them or refuses them in one line, and never breaks.

Each case is a valid file that was changed in a few places, by a seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from forethought.json_files import FileError
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.knowledge.provenance import provenance_path, read_provenance, used_fingerprints
from forethought.models import ReplayError, ReplayTransport
from forethought.models.types import Finish
from forethought.trajectories.read import read_trajectories
from forethought.trajectories.tasks import read_tasks
from tests.forethought.app.conftest import Cli, cli
from tests.forethought.trajectories import examples
from tests.support.forging import as_bytes, forged_bytes, forged_lines, forged_value, nested

__all__ = ["cli"]
ROOT = Path(__file__).parents[2]
KNOWLEDGE = ROOT / "forethought" / "knowledge"
SEEDS = range(30)
DEEP = (600, 100_000)
Read = Callable[[Path], Any]


def read_or_refuse(read: Read, path: Path, content: bytes, refusal: type[Exception]) -> bool:
    """Whether the file was read. Anything but the reader's own refusal, in one line, fails the test."""
    path.write_bytes(content)
    try:
        read(path)
    except refusal as error:
        said = str(error)
        if "\n" in said or not said:
            pytest.fail(f"refused in several lines, or none: {said!r}")
        return False
    return True


def replay(path: Path) -> None:
    """Read a recording, and look at what it would answer with."""
    for calls in ReplayTransport(path)._calls.values():
        for call in calls:
            reply = call.reply
            texts = [reply.text, reply.model, *(part for c in reply.calls for part in (c.name, c.arguments))]
            assert all(isinstance(text, str) for text in texts)
            assert reply.finish_reason in get_args(Finish)


def recording() -> list[Any]:
    """A small recording: the header, a few parts and a call."""
    asked = {"key": "k", "role": "planner", "reply_type": "Plan", "schema": {"part": "s"}, "functions": []}
    reply = {"text": "{}", "calls": [{"name": "f", "arguments": "{}"}], "finish_reason": "stop"}
    usage = {"input_tokens": 10, "output_tokens": 2, "cached_tokens": 0, "usd": 0.01}
    messages = [{"role": "system", "text": {"part": "p"}}, {"role": "user", "text": "Do it"}]
    return [
        {"forethought_recording": 1, "model": "openai:m", "context": {"model": "openai:m"}},
        {"part": "p", "value": "a long text"},
        {"part": "s", "value": {"type": "object"}},
        {**asked, "messages": messages, "reply": reply, "usage": usage, "model": "openai:m"},
    ]


def test_forged_recordings(tmp_path: Path) -> None:
    path, lines = tmp_path / "r.jsonl", recording()
    whole = b"".join(as_bytes(line) + b"\n" for line in lines)
    assert read_or_refuse(replay, path, whole, ReplayError)
    read = [read_or_refuse(replay, path, forged_lines(lines, seed), ReplayError) for seed in range(200)]
    read += [read_or_refuse(replay, path, forged_bytes(whole, seed), ReplayError) for seed in SEEDS]
    assert 20 < sum(read) < 210, "some are harmless and some are not"
    for depth in DEEP:
        assert not read_or_refuse(replay, path, whole + nested(depth), ReplayError)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("reply", "text"), 7), (("reply", "calls"), [{"name": 1, "arguments": "{}"}]), (("model",), None),
        (("reply", "finish_reason"), "tired"), (("usage", "input_tokens"), float("inf")),
        (("usage",), [1]), (("messages",), [{"role": "user", "text": 3}]), (("reply",), ""),
    ],
)  # fmt: skip
def test_a_forged_reply_is_refused(tmp_path: Path, place: tuple[str, ...], value: Any) -> None:
    lines = recording()
    part = lines[-1]
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    content = b"".join(as_bytes(line) + b"\n" for line in lines)
    assert not read_or_refuse(replay, tmp_path / "r.jsonl", content, ReplayError)


@pytest.mark.parametrize("name", ["BENCH", "MESSAGES", "TAU", "LABELS"])
def test_forged_trajectories(tmp_path: Path, name: str) -> None:
    path, value = tmp_path / "t.json", getattr(examples, name)
    for seed in SEEDS:
        read_or_refuse(read_trajectories, path, as_bytes(forged_value(value, seed)), ValueError)
        read_or_refuse(read_trajectories, path, forged_bytes(as_bytes(value), seed), ValueError)
    for depth in DEEP:
        assert not read_or_refuse(read_trajectories, path, nested(depth), ValueError)


def test_forged_logs(tmp_path: Path) -> None:
    for seed in SEEDS:
        forged = forged_bytes(examples.REACT.encode(), seed)
        read_or_refuse(read_trajectories, tmp_path / "log.txt", forged, ValueError)


def test_forged_knowledge(tmp_path: Path) -> None:
    path, content = tmp_path / "errors.yaml", (KNOWLEDGE / "planning_errors.yaml").read_bytes()
    value = yaml.safe_load(content)
    for seed in SEEDS:
        read_or_refuse(load_planning_errors, path, as_bytes(forged_value(value, seed)), FileError)
        read_or_refuse(load_planning_errors, path, forged_bytes(content[:5000], seed), FileError)
    for depth in DEEP:
        assert not read_or_refuse(load_planning_errors, path, nested(depth), FileError)


def test_forged_provenance(tmp_path: Path) -> None:
    errors = tmp_path / "errors.yaml"
    path = provenance_path(errors)
    value = json.loads((KNOWLEDGE / "distilled" / "planning_errors.provenance.json").read_text("utf-8"))
    value["questions"] = value["questions"][:2]

    def read(path: Path) -> None:
        read_provenance(path)
        used_fingerprints(errors)

    for seed in SEEDS:
        read_or_refuse(read, path, as_bytes(forged_value(value, seed)), FileError)
        read_or_refuse(read, path, forged_bytes(as_bytes(value), seed), FileError)
    for forged in ({"questions": 5}, {"written": []}, {"questions": None}):
        assert not read_or_refuse(read, path, as_bytes(forged), FileError)
    for depth in DEEP[1:]:
        assert not read_or_refuse(read, path, nested(depth), FileError)


def test_forged_tasks(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    task = {"id": "t1", "task": "Do it", "files": ["a.txt"], "expected": ["42"]}
    tasks = [task, {**task, "id": "t2", "checker": "module:name"}]
    for seed in SEEDS:
        read_or_refuse(read_tasks, path, forged_lines(tasks, seed), ValueError)
        read_or_refuse(read_tasks, path, forged_bytes(as_bytes(task), seed), ValueError)
    for depth in DEEP:
        assert not read_or_refuse(read_tasks, path, nested(depth), ValueError)


@pytest.mark.parametrize("context", [7, {"model": 7}, {"max_steps": "all"}, {"nothing": 1}, [["model"]]])
def test_a_recording_with_a_forged_context_is_told_in_one_line(
    cli: Cli, tmp_path: Path, context: Any
) -> None:
    lines = recording()
    lines[0]["context"] = context
    (tmp_path / "r.jsonl").write_bytes(b"".join(as_bytes(line) + b"\n" for line in lines))
    done = cli("run", "x", "--replay", "r.jsonl")
    assert done.code in (1, 2)
    assert "internal error" not in done.err
    assert "Traceback" not in done.err
