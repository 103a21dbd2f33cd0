"""Turns for work in threads."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import pytest

from forethought.tools.threads import SharedWork, Turns


def test_so_many_work_at_once_and_the_others_in_their_order() -> None:
    turns, go, begun = Turns(2), threading.Event(), list[int]()
    two = threading.Semaphore(0)

    def work(n: int) -> int:
        begun.append(n)
        two.release()
        assert go.wait(10)
        return n

    works = [turns.start(lambda n=n: work(n)) for n in range(5)]  # type: ignore[misc]
    assert two.acquire(timeout=10)
    assert two.acquire(timeout=10)
    assert sorted(begun) == [0, 1]
    assert not works[0].cancel(), "it has begun"
    assert works[3].cancel()
    go.set()
    assert [item.result(10) for item in (*works[:3], works[4])] == [0, 1, 2, 4]
    assert sorted(begun[2:]) == [2, 4]
    assert turns.start(lambda: 7).result(10) == 7


def test_what_fails_takes_no_turn_along_and_is_begun_anew() -> None:
    shared: SharedWork[int] = SharedWork(2, Turns(1))
    with pytest.raises(ZeroDivisionError):
        shared.start("a", lambda: 1 // 0).result(10)
    first = shared.start("a", lambda: 1)
    assert (first.result(10), shared.start("a", lambda: 2)) == (1, first)
    shared.start("b", lambda: 2)
    shared.start("c", lambda: 3)
    assert shared.start("a", lambda: 4).result(10) == 4, "only the last ones are kept"


def test_work_for_several_is_cancelled_when_all_have_given_it_up() -> None:
    turns, go = Turns(1), threading.Event()
    shared: SharedWork[int] = SharedWork(2, turns)
    turns.start(lambda: go.wait(10))
    one, other = shared.start("a", lambda: 1), shared.start("a", lambda: 1)
    assert one is other
    assert not one.cancel()
    assert other.cancel()
    again = shared.start("a", lambda: 2)
    go.set()
    with pytest.raises(CancelledError):
        other.result(10)
    assert again.result(10) == 2


def test_results_are_kept_by_weight_and_failures_for_a_while() -> None:
    shared: SharedWork[bytes] = SharedWork(
        10, Turns(1), weigh=len, failure_s=lambda error: 60 if isinstance(error, ValueError) else 0
    )
    assert shared.start("large", lambda: b"x" * 8).result(10) == b"x" * 8
    assert shared.start("small", lambda: b"y" * 4).result(10) == b"y" * 4
    shared.start("third", lambda: b"z").result(10)
    assert shared.start("large", lambda: b"again").result(10) == b"again"
    for kind, begun in ((ValueError, 1), (KeyError, 2)):
        tries: list[int] = []

        def fail(kind: type[Exception] = kind, tries: list[int] = tries) -> bytes:
            tries.append(1)
            raise kind

        for _ in range(2):
            with pytest.raises(kind):
                shared.start(kind, fail).result(10)
        assert len(tries) == begun
