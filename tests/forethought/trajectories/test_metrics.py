"""Table 1's metrics, counted by hand, and Wilson's interval against published values."""

import pytest

from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.trajectories.metrics import accuracy, wilson
from forethought.trajectories.types import Annotation, Module


def mark(step: int, module: Module, kind: str) -> Annotation:
    return Annotation(critical_step=step, critical_module=module, error_type=kind)


KNOWN = mark(3, "planning", "inefficient_planning")
PAIRS = [
    (KNOWN, KNOWN),
    (mark(3, "planning", "Inefficient_plan"), KNOWN),
    (mark(3, "planning", "impossible_action"), KNOWN),
    (mark(3, "action", "format_error"), KNOWN),
    (mark(2, "planning", "inefficient_planning"), KNOWN),
    (None, KNOWN),
]


def test_each_metric_asks_for_more_than_the_one_before():
    row = accuracy(PAIRS, load_taxonomy())
    assert (row.step.count, row.step_and_module.count, row.all_correct.count) == (4, 3, 2)
    assert {share.total for share in (row.step, row.step_and_module, row.all_correct)} == {6}
    assert accuracy(PAIRS).all_correct.count == 1


def test_nothing_to_count():
    row = accuracy([])
    assert (row.step.share, row.step.interval) == (0.0, (0.0, 1.0))


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_wilson(count, total, low, high):
    assert wilson(count, total) == pytest.approx((low, high), abs=5e-5)


def test_no_share():
    with pytest.raises(ValueError, match="no share"):
        wilson(3, 2)
