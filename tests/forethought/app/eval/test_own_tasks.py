"""`forethought eval run tasks.jsonl`: one's own questions, and code of the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.eval.conftest import Counting, Start, lines
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.support.answers import write_jsonl
from tests.support.evaluating import Replies, done
from tests.support.replies import answer, diagnosis, finish, plan, sub
from tests.support.tiny_benchmark import ONCE

ROWS: list[Any] = [
    {"id": "sum", "question": "Count the cats.", "files": ["costs.csv"], "expected": 42},
    {"id": "plan", "question": "Plan a visit.", "rubric": ["It names a day.", "It names a price."]},
]


@pytest.fixture(autouse=True)
def tasks(tmp_path: Path) -> None:
    """The file, in a folder of its own."""
    write_jsonl(tmp_path / "mine" / "tasks.jsonl", ROWS)
    (tmp_path / "mine" / "costs.csv").write_text("a,1")


def test_own_questions_are_an_evaluation_like_any_other(cli: Cli, served: Serve) -> None:
    holds = [{"number": n, "reasoning": "see", "holds": n == 1} for n in (1, 2)]
    served(
        Replies(
            {
                "ReactMove": [done("42")],
                "Plan": [plan(sub("s1"))],
                "PlanDiagnosis": [diagnosis()],
                "ToolChoice": [finish("42")],
                "AnswerDraft": [answer("It is Monday.")],
                "AssertionVerdicts": [{"verdicts": holds}],
            }
        )
    )
    out = cli("eval", "run", "mine/tasks.jsonl", "--method", "ours,react", "--yes", "--json")
    assert out.code == 0, out.err
    assert {row["method"]: row["main"]["mean"] for row in out.json["rows"]} == {"ours": 0.25, "react": 0.75}
    (pair,) = out.json["paired"]
    assert (pair["better"], pair["worse"]) == (1, 0)
    folder = Path("evaluations/tasks.jsonl")
    assert out.json["out"] == str(folder)
    shown = cli("eval", "report", str(folder))
    assert (shown.code, shown.err) == (0, "")
    assert "Own tasks: tasks.jsonl" in shown.out
    assert cli("eval", "report", str(folder), "--benchmark", "mine/tasks.jsonl").code == 0
    again = cli("eval", "run", "mine/tasks.jsonl", "--method", "ours,react", "--yes", "--json")
    assert (again.code, len(lines(str(folder)))) == (0, 4), "what is finished is not repeated"


def test_a_benchmark_and_a_method_of_the_current_folder_are_imported(
    cli: Cli, counting: Start, tmp_path: Path
) -> None:
    counting(Counting())
    (tmp_path / "own_evaluation.py").write_text(
        "from tests.support.tiny_benchmark import Asks, Tiny\nBENCHMARK, METHOD = Tiny(), Asks('mine', 1)\n"
    )
    (tmp_path / "test.jsonl").write_text('{"id": "cats", "target": "42"}')
    names = ("own_evaluation:BENCHMARK", "--method", "own_evaluation:METHOD")
    out = cli("eval", "run", *names, "--data", ".", "--out", "o", "--yes", "--json")
    assert out.code == 0, out.err
    shown = cli("eval", "report", "o", "--benchmark", "own_evaluation:BENCHMARK", "--json")
    assert (shown.code, shown.err) == (0, "")
    assert shown.json["rows"][0]["summary"] == {"tried": 1}


@pytest.mark.parametrize(
    ("row", "arguments", "said"),
    [
        ({"question": "x"}, (), "tasks.jsonl:1: the record: give one of: expected"),
        ({"question": "x", "checker": "m:f"}, (), "allow them with --checker m:f"),
        ({"question": "x", "checker": "m:f"}, ("--checker", "m:f"), "No module named 'm'"),
        ({"question": "x", "expected": "1"}, ("--option", "success=most"), "choose one of exact, model"),
    ],
)
def test_bad_tasks_are_one_line(
    cli: Cli, counting: Start, tmp_path: Path, row: Any, arguments: tuple[str, ...], said: str
) -> None:
    server = counting(Counting())
    write_jsonl(tmp_path / "mine" / "tasks.jsonl", [row])
    out = cli("eval", "run", "mine/tasks.jsonl", "--method", ONCE, *arguments)
    assert (out.code, said in out.err, is_one_clear_line(out)) == (2, True, True), out.err
    assert server.requests == []
