"""The caps, and what stops an evaluation."""

from __future__ import annotations

from asyncio import Semaphore

import pytest

from forethought.evals.harness.budget import Meter
from forethought.evals.harness.control import Control, meets_all
from forethought.evals.types import InfrastructureError
from forethought.models.types import ConfigurationError, TransportError, no_usage


@pytest.mark.parametrize(
    ("usd", "tokens", "affordable"), [(0.99, 99, True), (1.0, 0, False), (0.0, 100, False)]
)
def test_caps_hold_from_the_cap_on(usd: float, tokens: int, affordable: bool) -> None:
    spent = Meter(no_usage() | {"usd": usd, "input_tokens": tokens})
    control = Control(Semaphore(1), spent, max_usd=1.0, max_tokens=100)
    assert (control.affordable(), control.capped) == (affordable, not affordable)


def refused(status: int | None) -> ConfigurationError:
    """A provider's refusal, as the transport tells it."""
    error = ConfigurationError("refused")
    if status:
        cause = RuntimeError("said no")
        cause.status_code = status  # type: ignore[attr-defined]
        error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("status", "all_of_them"),
    [(None, True), (401, True), (404, True), (429, True), (400, False), (413, False)],
)
def test_only_what_meets_every_sample_stops_at_once(status: int | None, all_of_them: bool) -> None:
    stopped: list[bool] = []
    control = Control(Semaphore(1), Meter(), stop=lambda: stopped.append(True))
    control.failed(refused(status))
    assert (bool(stopped), meets_all(refused(status))) == (all_of_them, all_of_them)
    assert not meets_all(TransportError("gone"))


def test_failures_in_a_row_stop_and_a_success_between_them_does_not() -> None:
    stopped: list[bool] = []
    control = Control(Semaphore(1), Meter(), fail_after=2, stop=lambda: stopped.append(True))
    control.failed(InfrastructureError("one"))
    control.succeeded()
    control.failed(TransportError("two"))
    assert not stopped
    last = KeyError("three")
    control.failed(last)
    control.failed(KeyError("four"))
    assert (stopped, control.error) == ([True], last)
