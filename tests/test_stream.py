"""The stream of tasks: its answers, its order, and its methods with a scripted reader."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks.stream.__main__ import main
from benchmarks.stream.families import FAMILIES
from benchmarks.stream.tasks import StreamTask, stream
from tests.support.agent import kind_of
from tests.support.exchange import SeenRequest
from tests.support.model_server import ModelServer
from tests.support.replies import answer, checked, diagnosis, plan

NAMES = list(FAMILIES)
LANGMEM = (
    pytest.mark.skipif(not find_spec("langmem"), reason="no langmem"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
)
TASKS = stream(0, NAMES[:2], 3, 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_rule_changes_every_answer(seed: int) -> None:
    for task in stream(seed, NAMES, 12, 40):
        assert task.judge(task.case.answer) == "right"
        assert not task.family or task.judge(task.case.plain) == "plain"


def test_a_part_of_the_stream_has_the_same_tasks() -> None:
    whole = {task.id: task for task in stream(3, NAMES, 12, 40)}
    assert all(whole[task.id] == task for task in stream(3, NAMES[:4], 5, 7))


def test_the_tasks_of_a_family_keep_their_order_among_others() -> None:
    tasks = stream(0, NAMES, 12, 40)
    assert [task.position for task in tasks if task.family == "due"] == [*range(1, 13)]
    assert len({task.family for task in tasks[:30]}) > 5


def reader(seen: SeenRequest) -> Any:
    """Answers as the rule says if a correction of the task's family is in the prompt, else plainly."""
    task = _asked(seen)
    known = task.family and any(words in seen.text for words in FAMILIES[task.family].corrections)
    text = task.case.answer if known or not task.family else task.case.plain
    replies = {
        "WordedAdvice": _worded(seen),
        "Plan": plan(answer=text),
        "PlanDiagnosis": diagnosis(),
        "ReactMove": {"thought": "", "action": "finish", "tool": None, "arguments": {}, "answer": text},
        "DeepTurn": _turn(seen, text),
        "AnswerDraft": answer(text, []),
    }
    reply = replies[kind_of(seen)]
    if seen.schema and "checks" in seen.schema["properties"]:
        reply = checked(text, used=[])
    return {key: value for key, value in reply.items() if not seen.schema or key in seen.schema["properties"]}


def _asked(seen: SeenRequest) -> StreamTask:
    """The task whose question comes last: corrections may name earlier ones."""
    at = {task.id: seen.text.rfind(task.case.question) for task in TASKS}
    first = seen.text.find("I have corrected answers")
    if first > 0:
        at = {
            key: place if place < first else seen.text.find(_by_id(key).case.question, 0, first)
            for key, place in at.items()
        }
    return _by_id(max(at, key=lambda key: at[key]))


def _by_id(key: str) -> StreamTask:
    return next(task for task in TASKS if task.id == key)


def _worded(seen: SeenRequest) -> Any:
    """The correction with the words of its family's questions."""
    said = seen.text.rpartition("<person>")[2]
    texts = [(text, family) for family in FAMILIES.values() for text in family.corrections]
    words, family = next((item for item in texts if item[0] in said), texts[0])
    applies = " ".join(family.wordings).replace("{", "").replace("}", "")
    return {
        "name": "a_rule",
        "kind": "rule",
        "applies": applies,
        "wrong": "",
        "instead": words,
        "replaces": [],
    }


def _turn(seen: SeenRequest, text: str) -> Any:
    """LangMem's agent: keep what the user says is wrong, search first, then answer."""
    said = seen.messages[-1][1]
    if "wrong:" in said and "Result of" not in said:
        call = {"tool": "manage_memory", "arguments": json.dumps({"content": said})}
    elif "Result of" in said:
        return {"text": text, "calls": []}
    else:
        call = {"tool": "search_memory", "arguments": json.dumps({"query": text})}
    return {"text": "", "calls": [call]}


Carry = Callable[..., int]


@pytest.fixture
def carry_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Carry:
    """Runs a small part of the benchmark, and returns its exit code."""
    monkeypatch.delenv("FORETHOUGHT_EFFORT")

    def carry(url: str, methods: str, *more: str) -> int:
        flags = ["--out", str(tmp_path), "--base-url", url, "--method", methods, "--model", "openai:scripted"]
        part = ["--families", "2", "--tasks", "3", "--unrelated", "2", *more]
        monkeypatch.setattr(sys, "argv", ["stream", *flags, *part])
        return main()

    return carry


@pytest.mark.parametrize(
    ("method", "right"),
    [
        ("ours-without", 0),
        ("ours", 4),
        ("react", 4),
        pytest.param("langmem", 4, marks=LANGMEM),
    ],
)
def test_a_method_with_a_memory_is_right_after_one_correction(
    method: str, right: int, tmp_path: Path, carry_out: Carry
) -> None:
    server = ModelServer(reader)
    try:
        assert carry_out(server.url, method) == 0
    finally:
        server.close()
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text("utf-8").splitlines()]
    answers = [line for line in lines if line["kind"] == "answer"]
    assert sum(line["verdict"] == "right" for line in answers if line["family"]) == right
    assert sum(line["verdict"] == "right" for line in answers if not line["family"]) == 2
    assert len(lines) - len(answers) == (2 if right else 4)
    assert (tmp_path / "table.md").exists()
    assert (tmp_path / "plot.svg").exists()


def test_a_run_goes_on_after_a_stop(tmp_path: Path, carry_out: Carry) -> None:
    seen: list[str] = []

    def stops(request: SeenRequest) -> Any:
        seen.append(_asked(request).id)
        if len(seen) > 4 and not go_on:
            raise RuntimeError("the server is gone")
        return reader(request)

    go_on = False
    server = ModelServer(stops)
    try:
        assert carry_out(server.url, "react", "--parallel", "1") == 1
        go_on, before = True, len((tmp_path / "results.jsonl").read_text("utf-8").splitlines())
        assert carry_out(server.url, "react") == 0
    finally:
        server.close()
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text("utf-8").splitlines()]
    assert 0 < before < len(lines) == 8 + 2
    assert len({(line["kind"], line["task"]) for line in lines}) == len(lines)
