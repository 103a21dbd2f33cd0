"""What was read reaches the models whole; where it does not fit, what bears on the reader's work does."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from forethought.models.pricing import estimate_tokens
from forethought.sizes import REPLY_TOKENS, Sizes
from tests.support.agent import Drive, Driven, Script, World
from tests.support.model_server import SeenRequest
from tests.support.replies import answer, ask_replan, call, finish, plan, sub

Json = dict[str, Any]
_BLOCK = r'(?s)<result subtask="{}"[^>]*>\n(.*?)\n</result>'
_NOTE = re.compile(r"\[Lines? ([\d, -]+) of (\d+) (?:is|are) not shown\.(.*)\]$")


def file(name: str, lines: list[str]) -> Json:
    """A file of the input."""
    return {"name": name, "data": base64.b64encode("\n".join(lines).encode()).decode()}


def read(name: str, part: int | None = None, *, finishes: bool = False) -> Json:
    """A move that reads a file."""
    return call(tool="read_file", path=name, part=part, question=None, finishes=finishes)


def absent(lines: list[str], seen: SeenRequest) -> list[str]:
    """The lines that a prompt does not show."""
    shown = set(seen.text.split("\n"))
    return [line for line in lines if line not in shown and not any(line in other for other in shown)]


async def test_a_file_read_in_three_parts_reaches_its_worker_and_the_answer_whole(drive: Drive) -> None:
    lines = [f"item {n:03}: {n * 7919 % 100_000:05} pieces in hall {n % 7}" for n in range(899)]
    moves = [read("stock.txt"), read("stock.txt", 2), read("stock.txt", 3), finish("899 items")]
    out = await drive(Script(moves={"a": moves}), task={"task": "Sum.", "files": [file("stock.txt", lines)]})
    assert "part 3 of 3" in out.steps[2]["observation"]
    assert absent(lines, out.asked("ToolChoice", "a")[3]) == []
    assert absent(lines, out.asked("AnswerDraft")[0]) == []


async def test_a_result_reaches_dependent_planner_reflector_and_answer_whole(drive: Drive) -> None:
    lines = [f"clause {n:03}: party {n % 9} owes {n * 31:05}" + " eur" for n in range(299)]
    lines = [line.ljust(37, ".") for line in lines]
    assert 11_300 < len("\n".join(lines)) < 11_500
    plans = [plan(sub("a"), sub("b", ["a"])), plan(sub("c", ["a"]))]
    moves = {"a": [read("terms.txt", finishes=True)], "b": [ask_replan("a clause is void")]}
    task = {"task": "Who owes?", "files": [file("terms.txt", lines)]}
    out = await drive(Script(plans=plans, moves=moves), task=task)
    for seen in (
        out.asked("ToolChoice", "b")[0],
        out.asked("Plan")[1],
        out.asked("PlanDiagnosis")[1],
        out.asked("ToolChoice", "c")[0],
        out.asked("AnswerDraft")[0],
    ):
        assert absent(lines, seen) == []
        assert seen.text.count(lines[150]) == 1, "once in each prompt"


async def test_what_an_unfinished_subtask_read_reaches_the_next_plan_whole(drive: Drive) -> None:
    lines = [f"row {n:03} of the ledger, {n * 17} euros" for n in range(600)]
    plans = [plan(sub("a")), plan(sub("c"))]
    moves = {"a": [read("ledger.txt"), read("ledger.txt", 2), ask_replan("it is last year's")]}
    task = {"task": "Sum.", "files": [file("ledger.txt", lines)]}
    out = await drive(Script(plans=plans, moves=moves), task=task)
    assert absent(lines, out.asked("Plan")[1]) == []


def ten_files() -> tuple[list[Json], dict[str, list[str]]]:
    """Ten files of 11,400 characters, one line of one of which names the harbour dues of Hamburg."""
    texts = {
        f"f{k}": [
            f"port {k}-{n:03}: berth {n * 31 % 97:02}, crane {n % 8}".ljust(37, ".") for n in range(299)
        ]
        for k in range(10)
    }
    texts["f6"][150] = "harbour dues of Hamburg: 4120 euros, from July"
    return [file(f"{key}.txt", lines) for key, lines in texts.items()], texts


def missing_lines(note: str) -> list[int]:
    """The numbers of the lines that a note names."""
    match = _NOTE.search(note)
    assert match, note
    spans = [span.split("-") for span in match[1].split(", ")]
    return [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)]


async def ten_read(drive: Drive, moves: list[Any], **switches: Any) -> tuple[Driven, dict[str, list[str]]]:
    files, texts = ten_files()
    subtask = sub("z", list(texts), description="Find the harbour dues of Hamburg")
    script = Script(
        plans=[plan(*(sub(key) for key in texts), subtask)],
        moves={**{key: [read(f"{key}.txt", finishes=True)] for key in texts}, "z": moves},
        answers=[answer("4120 euros")],
    )
    out = await drive(script, task={"task": "What are the dues?", "files": files}, **switches)
    return out, texts


async def test_ten_files_fit_a_usual_window_whole(drive: Drive) -> None:
    out, texts = await ten_read(drive, [finish("4120 euros")], replanning=False)
    for seen in (out.asked("ToolChoice", "z")[0], out.asked("AnswerDraft")[0]):
        assert all(absent(lines, seen) == [] for lines in texts.values())


async def test_of_ten_files_a_small_window_shows_what_bears_on_the_subtask_and_names_the_rest(
    drive: Drive,
) -> None:
    out, texts = await ten_read(drive, [finish("4120 euros")], replanning=False, context_tokens=40_000)
    seen = out.asked("ToolChoice", "z")[0].text
    assert texts["f6"][150] in seen
    for key in texts:
        whole = out.state["results"][key]["text"].split("\n")
        (block,) = re.findall(_BLOCK.format(key), seen)
        *shown, note = block.split("\n")
        kept = [line for line in shown if line != "[...]"]
        missing = missing_lines(note)
        assert kept == [line for n, line in enumerate(whole, 1) if n not in missing], "exactly these"
        assert f"of {len(whole)} are not shown" in note
        assert f'results["{key}"] in python' in note
        assert f'read_file({{"part": null, "path": "{key}.txt", "question": null}})' in note
    size = Sizes(40_000)
    assert sum(len(block) for block in re.findall(_BLOCK.format(r"f\d"), seen)) <= size.results


@pytest.mark.parametrize("way", ["python", "read_file"])
async def test_the_note_on_what_is_missing_brings_it(drive: Drive, way: str) -> None:
    def follow(seen: SeenRequest) -> Json:
        (block,) = re.findall(_BLOCK.format("f3"), seen.text)
        if "<step number" in seen.text:
            return finish("found")
        if way == "read_file":
            return read("f3.txt")
        numbers = missing_lines(block.split("\n")[-1])
        code = f'lines = results["f3"].split("\\n")\nprint("\\n".join(lines[n - 1] for n in {numbers}))'
        return call(tool="python", code=code, finishes=False)

    out, texts = await ten_read(drive, follow, replanning=False, context_tokens=40_000)  # type: ignore[arg-type]
    second = out.asked("ToolChoice", "z")[1]
    assert absent(texts["f3"], second) == []


async def test_roles_without_tools_are_told_what_is_missing_alone(drive: Drive) -> None:
    out, _ = await ten_read(drive, [finish("4120 euros")], replanning=False, context_tokens=40_000)
    text = out.asked("AnswerDraft")[0].text
    assert "are not shown.]" in text
    assert not [line for line in text.splitlines() if "are not shown.]" in line and "python" in line]
    assert "shows them again" not in text


async def test_a_small_window_makes_parts_smaller_and_still_shows_the_newest_whole(drive: Drive) -> None:
    task = {"task": "Read it.", "files": [file("log.txt", [f"line {n} of the log" for n in range(2_000)])]}
    moves = {"a": [read("log.txt"), read("log.txt", 2), finish("read")]}
    out = await drive(Script(moves=moves), task=task, context_tokens=8_000)
    for at, step in enumerate(out.steps[:2]):
        assert len(step["observation"]) <= Sizes(8_000).observation
        assert step["observation"] in out.asked("ToolChoice", "a")[at + 1].text
    assert out.steps[1]["observation"].startswith("log.txt, part 2 of ")


@pytest.mark.parametrize("window", [8_000, 32_000])
async def test_no_prompt_of_a_long_run_is_longer_than_the_window(drive: Drive, window: int) -> None:
    outputs = {f"{key}{n}": [f"{key}{n} " + "a fact. " * 10_000] for key in "abc" for n in range(12)}
    moves = {key: [*(call(f"{key}{n}", finishes=False) for n in range(12)), finish("known")] for key in "abc"}
    plans = [plan(sub("a"), sub("b"), sub("c", ["a", "b"]))]
    out = await drive(
        Script(plans=plans, moves=moves), World(outputs), context_tokens=window, max_steps=60, max_tokens=None
    )
    assert len(out.steps) == 39
    assert out.status == "answered"
    for seen in out.requests:
        assert estimate_tokens(seen.text + json.dumps(seen.schema)) + REPLY_TOKENS <= window, seen.reply_name
    newest = out.steps[-2]["observation"].strip()
    assert newest in out.asked("ToolChoice", "c")[-1].text
