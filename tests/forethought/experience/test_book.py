"""The advice of a user in a Store: in memory, in SQLite, and with embeddings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from forethought.experience.advice import Advice
from forethought.experience.book import Book, advice_of, namespace_of
from forethought.storage import open_experience
from forethought.storage.address import file_address

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def advice(key: str, applies: str, instead: str = "do it so", **fields: object) -> Advice:
    """An advice of today."""
    given = {"id": key, "name": f"advice_{key}", "applies": applies, "instead": instead}
    return Advice.model_validate({**given, "source": "person", "made": NOW, **fields})


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    async with open_experience(file_address(tmp_path / "threads.sqlite")) as opened:
        yield opened


@pytest.fixture
def book(store: BaseStore) -> Book:
    return Book(store, namespace_of("local", "default"))


async def test_only_advice_in_use_that_fits_is_found_best_first(book: Book) -> None:
    await book.put(advice("rates", "travel claims in foreign currency"))
    await book.put(advice("some", "sums of invoices in a list of many other things"))
    await book.put(advice("best", "sums of invoices", state="probation"))
    for state in ("quarantined", "retired", "replaced", "dropped"):
        await book.put(advice(state, "sums of invoices", state=state))
    assert [found.id for found in await book.relevant("sums of open invoices")] == ["best", "some"]
    assert [found.id for found in await book.relevant("sums of open invoices", 1)] == ["best"]
    assert await book.relevant("Which open orders are late?") == []


async def test_what_a_person_said_in_the_thread_comes_first_whatever_its_words(book: Book) -> None:
    await book.put(advice("fits", "sums of invoices"))
    await book.put(advice("old", "x", thread="t"))
    await book.put(advice("new", "y", thread="t", made=NOW + timedelta(days=1)))
    await book.put(advice("found", "z", thread="t", source="learn"))
    found = await book.relevant("sums of open invoices", thread="t")
    assert [item.id for item in found] == ["new", "old", "fits"]


@pytest.mark.parametrize("user", ["ann@example.org", "a.b", "x" * 200])
async def test_any_user_has_a_namespace_of_their_own(store: BaseStore, user: str) -> None:
    mine = Book(store, namespace_of(user, "default"))
    await mine.put(advice("a", "w"))
    assert [item.id for item in await mine.all()] == ["a"]
    for other in (namespace_of(user + "x", "default"), namespace_of(user, "bills")):
        assert await Book(store, other).all() == []
    assert [*(await advice_of(store, user))] == ["default"]


async def test_a_replaced_advice_stays_as_history(book: Book) -> None:
    await book.put(advice("old", "sums of invoices", "write net amounts"))
    (found,) = await book.about("all invoices are gross")
    await book.replace([found.id, "unknown"], advice("new", "sums of invoices", "write gross amounts"))
    old, new = await book.all() if (await book.all())[0].id == "old" else reversed(await book.all())
    assert (old.state, old.replaced_by, new.replaces) == ("replaced", "new", ["old"])
    assert [item.id for item in await book.relevant("sums of invoices")] == ["new"]


async def test_a_task_counts_once_and_a_person_may_call_its_answer_wrong_later(book: Book) -> None:
    await book.put(advice("used", "sums"))
    await book.put(advice("seen", "sums"))
    for _ in range(2):
        assert await book.count("t", 1, {"used": "helped", "seen": "shown", "gone": "shown"}) == []
    await book.judge_wrong("t", 1)
    assert await book.count("t", 2, {"used": "helped"}) == []
    await book.judge_wrong("t", 2)
    used, seen = await book.get("used"), await book.get("seen")
    assert used is not None
    assert seen is not None
    assert (used.shown, used.applied, used.helped, used.harmed, used.state) == (2, 2, 0, 2, "retired")
    assert (seen.shown, seen.applied, seen.harmed) == (1, 0, 0)


async def test_embeddings_are_used_if_the_store_has_them() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[float("bill" in text or "invoice" in text), 1.0] for text in texts]

    book = Book(InMemoryStore(index={"dims": 2, "embed": embed}), namespace_of("local", "default"))
    await book.put(advice("rates", "rate of the day"))
    await book.put(advice("invoices", "index of invoices"))
    assert [item.id for item in await book.relevant("unpaid bills", 1)] == ["invoices"]
