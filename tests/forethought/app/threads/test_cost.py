"""`show --cost`: what each mechanism of a run cost and changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forethought.app.display import make_console
from forethought.app.threads.cost import render_costs
from forethought.state.cost import cost_rows
from tests.forethought.app.conftest import Cli
from tests.support.agent import Script
from tests.support.replies import (
    answer,
    ask_replan,
    call,
    check,
    checked,
    diagnosis,
    finish,
    plan,
    revision,
    sub,
    verdict,
)

Json = dict[str, Any]
Serve = Callable[..., Any]
FIGURES = ("calls", "input_tokens", "cached_tokens", "output_tokens")


def python(code: str, **fields: Any) -> Json:
    """A move that runs a program."""
    return call(tool="python", code=code, **fields)


def costs(cli: Cli, thread: str = "t") -> dict[str, Json]:
    """The report's rows by mechanism; with the run's sums they agree."""
    shown = cli("show", thread, "--json").json
    for name in FIGURES:
        sums = sum(row[name] for row in shown["cost"])
        assert sums == shown["usage"][name], name
    return {row["mechanism"]: row for row in shown["cost"]}


def test_each_mechanism_of_a_run_has_its_calls_and_what_they_changed(cli: Cli, served: Serve) -> None:
    served(
        Script(
            plans=[plan(sub("a"), score=5), plan(sub("a"), sub("b")), plan(sub("c", description="anew"))],
            diagnoses=[diagnosis("insufficient_constraint_verification"), diagnosis()],
            revisions=[revision(sub("a"), sub("b"), changes="better")],
            moves={
                "a": [python("1 / 0", score=3), python("print(42)")],
                "b": [ask_replan("b cannot be done")],
                "c": [finish("done")],
            },
            answers=[answer("41", score=4, mend="now"), answer("42")],
        )
    )
    assert cli("run", "the task", "--thread", "t", "--json").code == 0
    rows = costs(cli)
    made = {name: (row["calls"], row["changed"]) for name, row in rows.items()}
    assert made == {
        "planning": (1, None),
        "plan_intra": (1, 1),
        "prospective_reflection": (4, 1),
        "replanning": (1, 1),
        "moves": (3, None),
        "tool_intra": (1, 1),
        "tools": (0, None),
        "answer": (1, None),
        "answer_intra": (1, 1),
    }
    assert rows["prospective_reflection"]["note"] == "plans revised: 1; planning errors found: 1"
    assert rows["replanning"]["note"] == "plans replaced: 1; asked for by agent: 1"
    shown = cli("show", "t", "--cost")
    assert shown.code == 0
    line = next(line for line in shown.out.splitlines() if line.startswith("prospective reflection"))
    assert line.split()[2:6] == ["4", "400", "0", "80"]
    assert "13 model calls" in shown.out.splitlines()[-1]


def test_a_mechanism_that_changed_nothing_says_so(cli: Cli, served: Serve) -> None:
    same = [python("print(1)", score=3), python("print(1)", score=3, evaluation="worse")]
    served(Script(moves={"a": [*same, *same]}, answers=[answer("x", score=4, mend="now")]))
    cli("run", "the task", "--thread", "t", "--set", "tool_floor=3", "--set", "max_rounds=1")
    rows = costs(cli)
    assert rows["tool_intra"]["changed"] == 0
    assert rows["prospective_reflection"]["note"] == ""
    assert (rows["answer_intra"]["calls"], rows["answer_intra"]["changed"]) == (2, 0)


def test_prevented_calls_and_results_held_back_are_counted(cli: Cli, served: Serve) -> None:
    failing = python("1 / 0")
    served(
        Script(
            plans=[plan(sub("a"), sub("b")), plan(sub("a", description="anew"))],
            moves={
                "a": [failing, failing, finish("x")],
                "b": [python("print(1)", expected='"a total"'), finish("1")],
            },
            verdicts=[verdict()],
        )
    )
    cli("run", "the task", "--thread", "t")
    rows = costs(cli)
    assert (rows["repeats"]["changed"], rows["repeats"]["note"]) == (1, "calls prevented: 1")
    assert (rows["foresight"]["calls"], rows["foresight"]["changed"]) == (0, 1)
    assert rows["short_term_memory"]["note"].startswith("shown to moves: ")
    assert rows["replanning"]["note"].endswith("asked for by repeat: 1")


def test_calls_that_rules_save_stand_beside_those_that_were_made(cli: Cli, served: Serve) -> None:
    planned = {"tool": "python", "arguments": {"code": "print(42)"}}
    served(Script(plans=[plan(sub("a", call=planned))]))
    ran = cli("run", "the task", "--thread", "t", "--set", "effort=auto", "--json")
    rows = {row["mechanism"]: row for row in ran.json["cost"]}
    assert costs(cli) == rows
    assert (rows["planned_calls"]["calls"], rows["planned_calls"]["note"]) == (0, "made without a model: 1")
    (why,) = (skip["why"] for skip in ran.json["skipped"] if skip["mechanism"] == "plan_intra")
    assert rows["plan_intra"]["note"] == f"skipped: 1 ({why})"
    assert (rows["plan_intra"]["changed"], rows["plan_intra"]["skipped"]) == (0, 1)
    assert "moves" not in rows


def test_an_answer_mended_for_its_checks_is_theirs(cli: Cli, served: Serve) -> None:
    unmet = check("the unit", "no", "nobody looked")
    served(
        Script(
            moves={"a": [finish("41")], "mend": [finish("42")]},
            answers=[checked("41", unmet, work="Look up the unit."), answer("42")],
        )
    )
    cli("run", "the task", "--thread", "t", "--set", "effort=auto")
    rows = costs(cli)
    assert (rows["answer"]["calls"], rows["answer_checks"]["calls"]) == (1, 1)
    assert rows["answer_checks"]["note"] == "answers corrected: 1; corrective moves: 1"
    assert "replanning" not in rows


def test_an_answer_at_once_is_the_plannings(cli: Cli, served: Serve) -> None:
    served(Script(plans=[plan(answer="42")]))
    cli("run", "the task", "--thread", "t", "--set", "effort=auto")
    assert costs(cli)["planning"]["note"] == "answered at once: 1"


def test_a_price_that_is_not_known_is_none_and_one_that_is_is_summed(cli: Cli, served: Serve) -> None:
    served(Script())
    cli("run", "the task", "--thread", "t")
    shown = cli("show", "t", "--json").json
    assert {row["usd"] for row in shown["cost"] if row["calls"]} == {None}
    assert "?" in cli("show", "t", "--cost").out
    paid = {"calls": 1, "usd": 0.01}
    (row,) = cost_rows({"usage": {"foresight_tools": paid, "foresight_user": paid}})
    assert (row["mechanism"], row["calls"], row["usd"]) == ("foresight", 2, 0.02)


def test_one_view_at_a_time(cli: Cli) -> None:
    refused = cli("show", "t", "--cost", "--steps")
    assert (refused.code, "use only one of" in refused.err) == (2, True)


def test_on_a_narrow_screen_the_notes_stand_below_the_figures(monkeypatch: Any) -> None:
    row = {"mechanism": "plan_intra", "calls": 1, "input_tokens": 5, "cached_tokens": 0, "output_tokens": 2}
    row |= {
        "usd": None,
        "seconds": 1.0,
        "changed": 0,
        "note": "skipped: 1 (nothing new was seen in the files)",
    }
    report = {"thread_id": "t", "status": "answered", "cost": [row], "usage": {}, "seconds": 1.0}
    for width, line in ((80, f"plan intra: {row['note']}"), (120, f"0  {row['note']}")):
        monkeypatch.setenv("COLUMNS", str(width))
        console = make_console()
        with console.capture() as shown:
            console.print(render_costs(report))
        assert line in shown.get(), shown.get()
