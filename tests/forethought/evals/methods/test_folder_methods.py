"""Methods on a folder that is too large to be given file by file."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from forethought.evals.benchmarks.folders.writers import Document, write
from forethought.evals.registry import method
from forethought.evals.types import InfrastructureError
from tests.support.evaluating import Bureau, Replies, done, move
from tests.support.model_server import Answer, SeenRequest
from tests.support.replies import Json

TASK = "Which notice period does contract 1077 have?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty contracts as Word files, and a list."""
    root = tmp_path / "archive"
    (root / "contracts").mkdir(parents=True)
    for number in range(1050, 1090):
        text = f"Contract {number} ends with {number - 1040} weeks' notice."
        path = root / f"contracts/contract-{number}.docx"
        path.write_bytes(write("docx", Document("Contract", [text, "Signed by both sides."])))
    (root / "list.csv").write_text("contract,weeks\n1050,10\n", "utf-8")
    return root


async def test_react_sees_the_names_and_searches_all_files(bureau: Bureau, folder: Path) -> None:
    moves = [move("search_files", query="notice contract 1077"), done("37 weeks")]
    builtin = ("find_files", "search_files", "read_file", "python")
    out = await bureau.work(
        method("react"), Replies({"ReactMove": moves}), task=TASK, files=[folder], builtin=builtin
    )
    first, second = out.server.requests
    assert "contract-1050 ... 1089.docx, 40 files" in first.text
    assert "ends with 37 weeks' notice" in second.text
    assert (out.attempt.answer, out.attempt.steps) == ("37 weeks", 1)


def rows(seen: SeenRequest) -> Answer:
    """A reader's row for each contract that it is shown."""
    found = re.findall(r"(Contract \d+ ends with (\d+) weeks)", seen.text)
    cells = [{"quote": quote, "value": int(weeks)} for quote, weeks in found]
    return {"rows": [{"document": number, "weeks": cell} for number, cell in enumerate(cells, 1)]}


async def test_react_has_each_file_read_and_counts_the_rows(bureau: Bureau, folder: Path) -> None:
    fields = [{"name": "weeks", "type": "number", "description": ""}]

    def react(seen: SeenRequest) -> Answer:
        if "longest\n49" in seen.text:
            return done("49")
        if "40 files: 40 ok" in seen.text:
            return move("sql", query="SELECT max(weeks) AS longest FROM notices")
        question = "How long is the notice?"
        return move("read_each", files="contracts/*", question=question, fields=fields, table="notices")

    builtin = ("find_files", "read_each", "sql")
    out = await bureau.work(
        method("react"), Replies({"ReactMove": react, "Rows": rows}), task="Longest notice?", files=[folder],
        builtin=builtin,
    )  # fmt: skip
    assert (out.attempt.answer, out.attempt.steps) == ("49", 2), out.attempt.trajectory.steps
    assert len(out.asked("Rows")) >= 4
    assert out.attempt.usage["calls"] == len(out.server.requests)


async def test_retrieve_shows_the_best_passages_in_one_call(bureau: Bureau, folder: Path) -> None:
    replies = Replies({"ClosingAnswer": [{"answer": "37 weeks"}]})
    out = await bureau.work(method("retrieve"), replies, task=TASK, files=[folder])
    (seen,) = out.server.requests
    assert "contracts/contract-1077.docx" in seen.text
    assert "ends with 37 weeks' notice" in seen.text
    assert (out.attempt.answer, out.attempt.status) == ("37 weeks", "answered")
    assert out.attempt.trajectory.steps[0].tool == "search_files"


def turn(text: str = "", **call: Json) -> Answer:
    """A deep agent's turn: tool calls by name, or its last word."""
    calls = [{"tool": name, "arguments": json.dumps(arguments)} for name, arguments in call.items()]
    return {"text": text, "calls": calls}


async def test_a_deep_agent_reads_the_texts_with_its_own_tools(bureau: Bureau, folder: Path) -> None:
    def policy(seen: SeenRequest) -> Answer:
        if "37 weeks" in seen.text:
            return turn("37 weeks")
        if "contract-1077" in seen.text:
            return turn(read_file={"file_path": "/contracts/contract-1077.docx.txt"})
        return turn(grep={"pattern": "Contract 1077", "path": "/"})

    out = await bureau.work(
        method("deepagents"), policy, task=TASK.replace("1077", "of 1077"), files=[folder]
    )
    assert (out.attempt.answer, out.attempt.steps) == ("37 weeks", 2)
    assert [step.action.partition("(")[0] for step in out.attempt.trajectory.steps] == ["grep", "read_file"]
    assert out.attempt.usage["calls"] == out.meter.usage["calls"] == 3


async def test_a_deep_agents_calls_are_limited(bureau: Bureau, folder: Path) -> None:
    from forethought.evals.types import Budget

    def policy(seen: SeenRequest) -> Answer:
        return turn("I give up") if "limit" in seen.last.lower() else turn(ls={"path": "/"})

    out = await bureau.work(
        method("deepagents"), policy, task=TASK, files=[folder], budget=Budget(max_steps=2)
    )
    assert out.attempt.answer == "I give up"


async def test_without_its_package_the_error_names_the_command(
    bureau: Bureau, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deepagents", None)
    with pytest.raises(InfrastructureError, match=r"pip install .*\[deepagents\]"):
        await bureau.work(method("deepagents"), Replies({}), task=TASK, files=[folder])
