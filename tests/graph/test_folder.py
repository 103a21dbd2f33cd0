"""A run on a folder: what its prompts show, what its tools reach, and how little its state holds."""

from __future__ import annotations

from pathlib import Path

from tests.support.agent import Drive, Script, dump
from tests.support.folders import indexed, write
from tests.support.replies import answer, call, finish, plan, sub


def folder(tmp_path: Path) -> Path:
    files = {
        f"contracts/contract-{n}.txt": f"Contract {n}: notice {n % 7 + 1} months." for n in range(1000, 1300)
    }
    return write(tmp_path / "in", files)


async def test_a_run_finds_one_file_among_hundreds(drive: Drive, tmp_path: Path) -> None:
    script = Script(
        plans=[plan(sub("a"))],
        moves={
            "a": [
                call(tool="find_files", pattern="*1277*", finishes=False),
                call(tool="search_files", query="notice of contract 1277", finishes=False),
                call(tool="read_file", path="contract-1277.txt", finishes=False),
                call(tool="python", code="len(file_names), text_of(file_names[0])"),
            ]
        },
        answers=[answer("4 months", used=[3])],
    )
    out = await drive(script, task=None)
    ref = indexed(folder(tmp_path), out.settings)
    await out.go({"task": "What is the notice period of contract 1277?", "folders": [ref]}, effort="low")
    assert out.status == "answered"
    assert "contracts/ 300 txt: contract-1000 ... 1299.txt, 300 files" in out.asked("Plan")[0].text
    assert "search_files(query" in out.asked("Plan")[0].text
    assert "notice 4 months" in out.asked("Plan")[0].text
    steps = out.steps
    assert all(step["ok"] for step in steps), [step["observation"] for step in steps]
    assert steps[2]["origin"] == "file:contracts/contract-1277.txt"
    assert "300" in steps[3]["observation"]
    assert all(step["origin"].count("file:") <= 6 for step in steps)
    state = out.state
    assert (state["files"], state["folders"]) == ([], [ref])
    assert len(dump({key: value for key, value in state.items() if key != "look"})) < 40_000
    assert not out.settings.blobs_dir.exists()


async def test_the_next_task_keeps_the_folder_until_it_is_removed(drive: Drive, tmp_path: Path) -> None:
    out = await drive(Script(answers=[answer("a"), answer("b"), answer("c")]), task=None)
    ref = indexed(folder(tmp_path), out.settings)
    await out.go({"task": "One?", "folders": [ref]}, effort="low")
    await out.go({"task": "Two?"})
    assert out.state["folders"] == [ref]
    assert "300 files" in out.asked("Plan")[-1].text
    await out.go({"task": "Three?", "folders": ["*"]})
    assert out.state["folders"] == []
    assert "300 files" not in out.asked("Plan")[-1].text


async def test_a_client_names_a_folder_of_the_files_folder(drive: Drive, tmp_path: Path) -> None:
    folder(tmp_path)
    out = await drive(Script(answers=[answer("a")]), task=None, setting={"files_dir": tmp_path})
    await out.go({"task": "One?", "files": ["in"]})
    assert [ref["count"] for ref in out.state["folders"]] == [300]
    assert out.state["files"] == []


async def test_a_folder_that_is_not_indexed_here_is_refused(drive: Drive) -> None:
    out = await drive(task=None)
    forged = {"name": "letters", "id": "0" * 32, "count": 1, "size": 1, "types": []}
    await out.go({"task": "One?", "folders": [forged]})
    assert (out.status, "give it again" in out.talk[-1][1]) == ("failed", True)
    await out.go({"task": "Two?"})
    assert out.status == "answered"


async def test_the_planner_answers_at_once_if_all_files_that_hold_a_name_are_shown(
    drive: Drive, tmp_path: Path
) -> None:
    out = await drive(Script(plans=[plan(answer="4 months")]), task=None)
    ref = indexed(folder(tmp_path), out.settings)
    await out.go({"task": "What is the notice period of contract 1277?", "folders": [ref]}, effort="low")
    assert (out.status, out.state["answer"], out.steps) == ("answered", "4 months", [])
    assert "“1277”: 1 file" in out.asked("Plan")[0].text


async def test_only_who_plans_sees_names_and_other_passages(drive: Drive, tmp_path: Path) -> None:
    script = Script(
        plans=[plan(sub("a"))],
        moves={"a": [call(tool="python", code="len(file_names)", finishes=False), finish("4 months")]},
        answers=[answer("4 months", used=[1])],
    )
    out = await drive(script, task=None)
    ref = indexed(folder(tmp_path), out.settings)
    await out.go({"task": "What is the notice period of contract 1277?", "folders": [ref]}, effort="low")
    planner, worker, writer = (out.asked(name)[-1].text for name in ("Plan", "ToolChoice", "AnswerDraft"))
    assert all("notice 4 months" in text for text in (planner, worker, writer))
    assert ["contract-1000 ... 1299.txt" in text for text in (planner, worker, writer)] == [
        True,
        False,
        False,
    ]
    assert ["read_each over all" in text for text in (planner, worker, writer)] == [True, False, False]
    assert "Known: what is known" in writer
    assert out.steps[0]["origin"] == f"folder:{ref['name']}"
