"""show --branches and show --diff: what the branches of a thread have in common and where they part."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.app.display import make_console
from forethought.app.threads.branches import branches_of_tree, difference, render_difference
from tests.forethought.app.conftest import Cli
from tests.forethought.app.test_bad_input import is_one_clear_line

Scripted = Callable[..., Any]


@pytest.fixture
def forked(cli: Cli, scripted: Scripted) -> Cli:
    """A thread t1 that was forked before step 3 and came to another answer."""
    script, _ = scripted()
    assert cli("run", "What is 40 + 2?", "--thread", "t1").code == 0
    script.answer = "forty-two"
    assert cli("fork", "t1", "--before", "3", "--guidance", "Write it in words.").code == 0
    return cli


def test_the_branches_are_listed_with_where_they_were_forked_and_why(
    forked: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = forked("show", "t1", "--branches", "--json").json
    assert found["thread_id"] == "t1"
    first, second = found["branches"]
    assert (first["number"], first["forked_before"], first["answer"], first["head"]) == (1, None, "42", False)
    assert (second["number"], second["forked_before"], second["at"]) == (2, 3, "tool_agent")
    assert (second["answer"], second["guidance"], second["head"]) == (
        "forty-two",
        ["Write it in words."],
        True,
    )
    assert all((found["status"], found["steps"]) == ("answered", 3) for found in (first, second))
    monkeypatch.setenv("COLUMNS", "100")
    shown = forked("show", "t1", "--branches")
    assert shown.code == 0
    for part in ("2*", "step 3", "Write it in words."):
        assert part in shown.out, shown.out


def test_the_difference_names_the_answer_where_every_step_came_out_alike(forked: Cli) -> None:
    found = forked("show", "t1", "--diff", "1", "--json").json
    assert (found["parts_at"], found["same_steps"], found["steps"]) == (None, 3, [])
    assert (found["a"]["answer"], found["b"]["answer"], found["answer_differs"]) == ("42", "forty-two", True)
    assert found["more_tokens"] == found["b"]["tokens"] - found["a"]["tokens"]
    shown = forked("show", "t1", "--diff", found["a"]["branch"])
    assert "all 3 steps are the same" in shown.out
    assert [line.strip() for line in shown.out.splitlines()[3:5]] == ["- answer: 42", "+ answer: forty-two"]


def test_the_difference_names_the_first_step_that_differs(cli: Cli, scripted: Scripted) -> None:
    script, _ = scripted()
    cli("run", "What is 40 + 2?", "--thread", "t1")
    choose = script.toolchoice

    def changed(seen: Any) -> Any:
        found = choose(seen)
        return {**found, "result": "both say forty-two"} if found["action"] == "finish" else found

    script.toolchoice = changed
    cli("fork", "t1", "--before", "3")
    found = cli("show", "t1", "--diff", "#1", "--json").json
    assert (found["parts_at"], found["same_steps"]) == (3, 2)
    assert found["steps"][0]["a"]["observation"] == "both say 42"
    assert found["steps"][0]["b"]["observation"] == "both say forty-two"
    shown = cli("show", "t1", "--diff", "1").out
    assert "they diverge at step 3" in shown
    assert "-     both say 42" in shown
    assert "+     both say forty-two" in shown


def test_steps_of_earlier_tasks_count_as_shared(cli: Cli, scripted: Scripted) -> None:
    script, _ = scripted()
    for task in ("What is 40 + 2?", "And again?"):
        assert cli("run", task, "--thread", "t1").code == 0
    script.description = "Compute 40 + 2 once more"
    assert cli("fork", "t1", "--before", "4", "--guidance", "Take your time.").code == 0
    found = cli("show", "t1", "--diff", "1", "--json").json
    assert (found["same_steps"], found["parts_at"], found["a"]["steps"]) == (6, None, 6)
    assert cli("fork", "t1", "--before", "2").code == 0
    found = cli("show", "t1", "--diff", "1", "--json").json
    assert (found["same_steps"], found["parts_at"]) == (3, 4)
    shown = cli("show", "t1", "--diff", "1").out
    assert "3 steps are the same; they diverge at step 4" in shown
    assert "- branch 1: answered, 6 steps\n+ branch 3, current: " in shown


def test_a_branch_that_is_not_there_is_refused(forked: Cli) -> None:
    for arguments, message in [
        (("--diff", "7"), "name one of the 2 branches other than the current one, by its number"),
        (("--diff", "2"), "name one of the 2 branches other than the current one"),
        (("--diff", "1", "--branches"), "use only one of"),
    ]:
        refused = forked("show", "t1", *arguments)
        assert (refused.code, is_one_clear_line(refused), message in refused.err) == (2, True, True), refused


def test_the_oldest_child_goes_a_branch_on() -> None:
    tree = {"a": None, "b": "a", "c": "b", "d": "a", "e": "c", "f": "d", "g": "d"}
    found = [(place.number, place.leaf, place.first, place.origin) for place in branches_of_tree(tree)]
    assert found == [(1, "e", "a", None), (2, "f", "d", "a"), (3, "g", "g", "d")]
    assert branches_of_tree({}) == []
    assert [place.leaf for place in branches_of_tree({"b": "gone"})] == ["b"], (
        "older checkpoints may be deleted"
    )


@given(st.lists(st.integers(0, 1000), max_size=30))
def test_every_leaf_is_one_branch_and_numbers_stay_when_the_tree_grows(choices: list[int]) -> None:
    tree: dict[str, str | None] = {}
    births: dict[int, str] = {}
    for at, choice in enumerate(choices):
        tree[f"{at:03}"] = f"{choice % at:03}" if at else None
        found = branches_of_tree(tree)
        assert {place.leaf for place in found} == tree.keys() - set(tree.values())
        for place in found:
            assert births.setdefault(place.number, place.first) == place.first


def test_a_step_that_only_one_branch_has_differs() -> None:
    step = {"n": 1, "subtask": "a", "tool": "look", "arguments": {"at": 1}, "observation": "\x1b[31mred"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    old = {"branch": "b1", "number": 1, "status": "answered", "answer": "", "steps": [], "usage": usage}
    found = difference(old, {**old, "branch": "b2", "number": 2, "steps": [step]})
    seen = {"did": "a: look(at=1)", "observation": "\x1b[31mred"}
    assert (found["parts_at"], found["steps"]) == (1, [{"n": 1, "a": None, "b": seen}])
    console = make_console(io.StringIO())
    with console.capture() as shown:
        console.print(render_difference(found))
    assert "+     red" in shown.get()
