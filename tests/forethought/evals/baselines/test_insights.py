"""ExpeL's list of insights."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forethought.evals.baselines.insights import FIRST, MOST, Insight, apply_operations, operations_problem
from forethought.evals.prompts.baseline_replies import InsightOperation


def op(operation: str, number: int | None = None, text: str = "") -> InsightOperation:
    """An operation."""
    return InsightOperation.model_validate({"operation": operation, "number": number, "text": text})


def insights(*importances: int) -> list[Insight]:
    """A list with these importances."""
    return [Insight(text=f"insight {n}", importance=given) for n, given in enumerate(importances, 1)]


def test_each_operation_does_its_own() -> None:
    after = apply_operations(
        insights(2, 2, 1, 3),
        [op("AGREE", 1), op("EDIT", 2, "better"), op("REMOVE", 3), op("REMOVE", 4), op("ADD", None, "new")],
    )
    assert [(item["text"], item["importance"]) for item in after] == [
        ("insight 1", 3),
        ("better", 3),
        ("insight 4", 2),
        ("new", FIRST),
    ]


def test_what_is_on_the_list_is_not_added_again_and_the_weakest_go() -> None:
    additions = [op("ADD", None, "Insight 1"), op("ADD", None, "x"), op("ADD", None, "X")]
    assert len(apply_operations(insights(1), additions)) == 2
    full = apply_operations(insights(*[2] * (MOST - 1), 1), [op("ADD", None, "new")])
    assert len(full) == MOST
    assert (full[-1]["text"], full[-2]["text"]) == ("new", f"insight {MOST - 1}")


def test_operations_that_do_not_fit_are_named() -> None:
    two = insights(2, 2)
    assert operations_problem([op("AGREE", 2), op("ADD", None, "x")], two) is None
    assert "no insight 3" in str(operations_problem([op("AGREE", 3)], two))
    assert "no insight 0" in str(operations_problem([op("REMOVE", 0)], two))
    assert "at most one" in str(operations_problem([op("AGREE", 1), op("REMOVE", 1)], two))
    assert "at most 4" in str(operations_problem([op("ADD", None, str(n)) for n in range(5)], two))


_OPERATIONS = st.lists(
    st.builds(op, st.just("ADD"), st.none(), st.text(min_size=1, max_size=4).filter(str.strip))
    | st.builds(op, st.sampled_from(["AGREE", "REMOVE"]), st.integers(1, 9))
    | st.builds(op, st.just("EDIT"), st.integers(1, 9), st.just("edited")),
    max_size=4,
)


@given(st.lists(_OPERATIONS, max_size=30))
def test_the_list_stays_bounded_and_important(rounds: list[list[InsightOperation]]) -> None:
    now: list[Insight] = []
    for operations in rounds:
        if operations_problem(operations, now) is None:
            now = apply_operations(now, operations)
        assert len(now) <= MOST
        assert all(item["importance"] > 0 and item["text"] for item in now)
