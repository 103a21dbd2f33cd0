"""A batch through a kill -9 and a SIGTERM, with real processes, in small: see `benchmarks/scale_out.py`."""

from __future__ import annotations

import pytest

from benchmarks.scale_out import RESCUED_WITHIN_S, run

pytestmark = pytest.mark.scale


def test_every_task_ends_once_though_a_worker_is_killed_and_one_stopped() -> None:
    figures = run(tasks=24, workers=3, concurrency=2, latency_ms=150)
    assert figures.wrong == []
    assert figures.states["states"]["done"] == 24
    assert figures.killed_with, "the kill fell while jobs were under way"
    assert figures.rescued_s < RESCUED_WITHIN_S
    assert figures.stopped_code == 0
