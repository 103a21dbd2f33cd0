"""The gate, the caps, and what stops an evaluation."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.evals.harness.control import Control, Gate, meets_all
from forethought.evals.harness.meter import Meter
from forethought.evals.types import InfrastructureError
from forethought.models.types import ConfigurationError, TransportError, no_usage


@given(ranks=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), max_size=20), places=st.integers(1, 4))
def test_the_gate_is_never_too_wide_and_lets_low_ranks_first(
    ranks: list[tuple[int, int]], places: int
) -> None:
    order: list[tuple[int, int]] = []
    inside = widest = 0

    async def one(gate: Gate, rank: tuple[int, int]) -> None:
        nonlocal inside, widest
        await gate.enter(rank)
        order.append(rank)
        inside += 1
        widest = max(widest, inside)
        await asyncio.sleep(0)
        inside -= 1
        gate.leave()

    async def everyone() -> None:
        gate = Gate(places)
        await asyncio.gather(*(one(gate, rank) for rank in ranks))

    asyncio.run(everyone())
    assert sorted(order) == sorted(ranks)
    assert order[places:] == sorted(order[places:])
    assert widest <= places


async def test_who_gives_up_waiting_takes_no_place() -> None:
    gate = Gate(1)
    await gate.enter((1, 0))
    gone = asyncio.create_task(gate.enter((1, 1)))
    stays = asyncio.create_task(gate.enter((1, 2)))
    await asyncio.sleep(0)
    gone.cancel()
    with suppress(asyncio.CancelledError):
        await gone
    gate.leave()
    await asyncio.wait_for(stays, 1)
    admitted = asyncio.create_task(gate.enter((1, 3)))
    await asyncio.sleep(0)
    gate.leave()
    admitted.cancel()  # in the moment in which it is let in
    with suppress(asyncio.CancelledError):
        await admitted
    await asyncio.wait_for(gate.enter((1, 4)), 1)


@pytest.mark.parametrize(
    ("usd", "tokens", "affordable"), [(0.99, 99, True), (1.0, 0, False), (0.0, 100, False)]
)
def test_caps_hold_from_the_cap_on(usd: float, tokens: int, affordable: bool) -> None:
    spent = Meter(no_usage() | {"usd": usd, "input_tokens": tokens})
    control = Control(Gate(1), spent, max_usd=1.0, max_tokens=100)
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
    control = Control(Gate(1), Meter(), stop=lambda: stopped.append(True))
    control.failed(refused(status))
    assert (bool(stopped), meets_all(refused(status))) == (all_of_them, all_of_them)
    assert not meets_all(TransportError("gone"))


def test_failures_in_a_row_stop_and_a_success_between_them_does_not() -> None:
    stopped: list[bool] = []
    control = Control(Gate(1), Meter(), fail_after=2, stop=lambda: stopped.append(True))
    control.failed(InfrastructureError("one"))
    control.succeeded()
    control.failed(TransportError("two"))
    assert not stopped
    last = KeyError("three")
    control.failed(last)
    control.failed(KeyError("four"))
    assert (stopped, control.error) == ([True], last)
