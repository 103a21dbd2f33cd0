"""The error-reduction rate (SAMULE 4.7) and when a model is adopted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.training.errors import TrainingError
from forethought.training.gate import Retry, check_adopted, check_held_out, compare, write_result
from tests.forethought.training.samples import trial


def test_the_rate_is_the_share_of_identified_errors_that_are_gone() -> None:
    before = ["aab", "ab", "c", "d", "ee", ""]
    prompted = [trial(n, types, types) for n, types in enumerate(before)]
    after = ["a", "bcc", "", "", "e", "f"]
    trained = [trial(n, *pair) for n, pair in enumerate(zip(before, after, strict=True))]
    verdict = compare(prompted, trained)
    # gone: a and b of aab; a of ab; c; d; one e of ee
    assert verdict.trained.rate == pytest.approx(6 / 9)
    assert (verdict.trained.gone, verdict.trained.identified, verdict.trained.new) == (6, 9, 3)
    assert verdict.prompted.rate == 0
    assert verdict.difference[0] == pytest.approx(6 / 9)
    assert verdict.difference[1] <= verdict.difference[0] <= verdict.difference[2]
    assert verdict.adopted


def tries(*rows: tuple[int, str, str]) -> list[Retry]:
    """Trials as (task, before, after), of one task each a trajectory of its own."""
    return [trial(task, before, after, number) for number, (task, before, after) in enumerate(rows)]


@pytest.mark.parametrize(
    ("prompted", "trained", "reason"),
    [
        ([(n, "ab", "") for n in range(10)], [(n, "ab", "ab") for n in range(10)], "no more errors"),
        ([(n, "ab", "") for n in range(10)], [(n, "ab", "") for n in range(10)], "no more errors"),
        (
            [(n, "a", "a" if n % 2 else "") for n in range(8)],
            [(n, "a", "a" if n % 2 == 0 and n else "") for n in range(8)],
            "may be chance",
        ),
        ([(0, "ab", "ab")] * 50, [(0, "ab", "")] * 50, "trials on 1 tasks are too few"),
    ],
    ids=["worse", "the same", "chance", "one task"],
)
def test_a_model_that_is_not_surely_better_is_not_adopted(prompted: Any, trained: Any, reason: str) -> None:
    verdict = compare(tries(*prompted), tries(*trained))
    assert not verdict.adopted
    assert reason in verdict.reason


def test_unpaired_trials_are_refused() -> None:
    six = [trial(n, "ab", "") for n in range(6)]
    with pytest.raises(TrainingError, match=r"h5, h5\.1 is in only one of them"):
        compare(six, six[:5])
    with pytest.raises(TrainingError, match=r"disagree on the errors before the retry of h0"):
        compare(six, [trial(0, "ac", ""), *six[1:]])
    with pytest.raises(TrainingError, match="two retries"):
        compare([*six, six[0]], six)
    with pytest.raises(TrainingError, match="have no errors before the retries"):
        compare([trial(0, "", "")], [trial(0, "", "")])


def test_a_text_that_was_trained_on_is_no_held_out_task() -> None:
    held_out = [Retry(task_id="new", trajectory_id="x", task="Book a HOTEL!", before=("a",), after=())]
    check_held_out(held_out, ["h1"], ["book a room"])
    with pytest.raises(TrainingError, match="new is a training task"):
        check_held_out(held_out, [], ["book a hotel"])


kinds = st.lists(st.sampled_from("abc"), max_size=4).map("".join)


@hypothesis.settings(max_examples=30)
@given(st.lists(st.tuples(kinds, kinds, kinds), min_size=1, max_size=12), st.integers(0, 3))
def test_rates_are_shares_and_only_gains_are_adopted(rows: list[tuple[str, str, str]], seed: int) -> None:
    if not any(row[0] for row in rows):
        return
    prompted = [trial(n, row[0], row[1]) for n, row in enumerate(rows)]
    trained = [trial(n, row[0], row[2]) for n, row in enumerate(rows)]
    verdict = compare(prompted, trained, seed)
    for rate in (verdict.prompted, verdict.trained):
        assert 0 <= rate.rate <= 1
        assert rate.rate == rate.gone / rate.identified
    if verdict.adopted:
        assert verdict.difference[1] > 0
    assert compare(prompted, trained, seed) == verdict


def test_only_an_adopted_model_is_adopted(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="has not passed the gate"):
        check_adopted(tmp_path)
    good, bad = tries(*((n, "ab", "") for n in range(10))), tries(*((n, "ab", "ab") for n in range(10)))
    write_result(tmp_path, compare(bad, good))
    check_adopted(tmp_path)
    write_result(tmp_path, compare(good, bad))
    with pytest.raises(TrainingError, match="rejected it"):
        check_adopted(tmp_path)
