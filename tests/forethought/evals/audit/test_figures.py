"""From the runs of an audit to shares of pairs, costs, verdicts and fitted rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.audit.figures import Comparison, compare, convicts, evidence_of, fitted
from forethought.evals.audit.skips import SkippedAt, as_samples
from forethought.evals.methods.ours import Ours
from forethought.evals.results import Result
from forethought.evals.types import Sample
from forethought.nodes.support.effort import Evidence, Rule, load_rules, write_rules
from forethought.trajectories.types import Loaded, Trajectory, TrajectoryStep
from tests.support.evaluations import result_record

RULE = Rule(
    id="short", mechanism="tool_intra", skip_if=("has_few_subtasks",), limits={"subtasks": 3}, why="w"
)


def skip_in(task: str, subtasks: int = 1, n: int = 0, rule: Rule = RULE) -> SkippedAt:
    """A skip of `rule` in a task."""
    return SkippedAt(f"{task}.{rule.id}.{n}", task, Ours(), "t", "c", rule, {"subtasks": subtasks})


def runs(*scores: float | None, tokens: int = 100, usd: float | None = 0.01) -> list[Result]:
    """Runs with these grades."""
    usage: Any = {"input_tokens": tokens, "output_tokens": 0, "usd": usd or 0, "unpriced": int(usd is None)}
    return [Result.model_validate(result_record("m", "s", score, usage=usage)) for score in scores]


def compared(task: str, control: Sequence[Result], forced: Sequence[Result], subtasks: int = 1) -> Comparison:
    """The comparison at a skip."""
    return compare(skip_in(task, subtasks), control, forced, Path())


def found_in(comparisons: Sequence[Comparison]) -> Evidence:
    """The evidence of the comparisons."""
    return evidence_of(comparisons, "some runs", "a model")


def test_each_pair_counts_and_flips_to_right_and_to_wrong_are_told_apart() -> None:
    one = compared("a", runs(0, 0, 1), runs(1, 1, 0, tokens=160, usd=0.03))
    assert (one.won, one.lost) == (pytest.approx(4 / 9), pytest.approx(1 / 9))
    assert one.flips == pytest.approx(5 / 9)
    assert one.noise == pytest.approx(2 / 3), "two of the three pairs of runs without it differ"
    assert (one.tokens, one.usd) == (60, pytest.approx(0.02))
    assert compared("a", runs(0), runs(1)).noise is None
    assert compared("a", runs(0, usd=None), runs(1)).usd is None


def test_skips_of_a_task_are_one_observation() -> None:
    flip, none = compared("a", runs(0), runs(1, tokens=160)), compared("b", runs(0), runs(0, tokens=160))
    found = found_in([flip, flip, flip, none])
    assert (found.skips, found.tasks, found.flips, found.won) == (4, 2, 0.5, 0.5)
    assert found.per_flip(found.tokens) == 120
    assert found_in([none]).per_flip(60) is None, "nothing is set right"


def test_noise_alone_convicts_no_rule_and_neither_do_few_tasks() -> None:
    noisy = [compared(str(n), runs(n % 2, 1), runs(1, n % 2)) for n in range(40)]
    assert found_in(noisy).flips == 0.25
    assert not convicts(found_in(noisy))
    clear = [compared(str(n), runs(0), runs(1)) for n in range(10)]
    assert convicts(found_in(clear))
    assert not convicts(found_in(clear[:9]))
    low, high = found_in([compared(str(n), runs(1), runs(1)) for n in range(10)]).gain_interval or (0, 0)
    assert low == -high < 0, "no flip in ten tasks does not mean that none is possible"
    harm = [compared(str(n), runs(1), runs(0)) for n in range(10)]
    assert not convicts(found_in(harm))


def test_without_grades_the_actions_that_change_the_world_are_compared_or_else_the_answers(
    tmp_path: Path,
) -> None:
    def run(name: str, answer: str, *acts: str) -> Result:
        steps = tuple(
            TrajectoryStep(number=n, action=act, changes_world=True) for n, act in enumerate(acts, 1)
        )
        loaded = Loaded(trajectory=Trajectory(id=name, task="t", steps=steps, answer=answer))
        (tmp_path / name).write_text(loaded.model_dump_json())
        record = result_record("m", "s", None, label="unscored", answer=answer, trajectory=name)
        return Result.model_validate(record)

    paid, kept, words = (
        run("1", "Done.", "pay(5)"),
        run("2", "Done.", "pay(6)"),
        run("3", "It is done.", "pay(5)"),
    )
    one = compare(skip_in("a"), [paid], [kept, words], tmp_path)
    assert (one.flips, one.won, one.lost) == (0.5, None, None)
    assert not convicts(found_in([one] * 20))
    said, same = run("4", "The Rhine"), run("5", "the rhine.")
    assert compare(skip_in("a"), [said], [same], tmp_path).flips == 0


def test_a_limit_is_lowered_to_where_nothing_was_lost_and_a_rule_without_one_is_dropped(
    tmp_path: Path,
) -> None:
    harmless = [compared(f"{size}-{n}", runs(1), runs(1), size) for n in range(10) for size in (1, 2)]
    harmful = [compared(f"3-{n}", runs(0), runs(1), 3) for n in range(10)]
    every = [*harmless, *harmful]
    lower = fitted(RULE, every, found_in(every))
    assert (lower.limits, lower.convicted) == ({"subtasks": 2}, False)
    assert (lower.evidence[0].skips, lower.evidence[0].won) == (20, 0)
    dropped = fitted(RULE, harmful, found_in(harmful))
    assert (dropped.limits, dropped.convicted) == (RULE.limits, True)
    assert len(fitted(lower, harmless, found_in(harmless)).evidence) == 1, "newer evidence replaces older"

    write_rules(tmp_path / "rules.yaml", [lower, dropped])
    assert load_rules(tmp_path / "rules.yaml") == (lower, dropped)


def test_of_each_rule_some_skips_are_drawn() -> None:
    other = RULE.model_copy(update={"id": "other"})
    skips = [skip_in("a", n=n) for n in range(9)] + [skip_in("a", rule=other), skip_in("gone")]
    few, more = (
        as_samples(skips, [Sample("a", "task a", groups={"class": "trap"})], most, seed=1) for most in (3, 5)
    )
    assert [sample.groups["rule"] for sample in few] == ["short"] * 3 + ["other"]
    assert {sample.groups["class"] for sample in few} == {"trap"}
    assert {sample.id for sample in few} < {sample.id for sample in more}, "a higher limit adds skips"
