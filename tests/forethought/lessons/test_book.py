"""The lessons of a user in a Store: in memory, in SQLite, and with embeddings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from forethought.lessons.book import LessonBook, alike, namespace_of, proposed_errors
from forethought.lessons.record import Lesson
from forethought.storage import open_experience
from forethought.storage.address import file_address

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def lesson(key: str, worked: str, **fields: Any) -> Lesson:
    """A lesson of today."""
    given: dict[str, Any] = {
        "task": "a task",
        "failed": "f",
        "thread": f"of {key}",
        "made": NOW,
        "renewed": NOW,
    }
    return Lesson(id=key, worked=worked, **{**given, **fields})


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BaseStore]:
    if request.param == "memory":
        yield InMemoryStore()
        return
    async with open_experience(file_address(tmp_path / "threads.sqlite")) as opened:
        yield opened


@pytest.fixture
def book(store: BaseStore) -> LessonBook:
    return LessonBook(store, namespace_of("local", "default"))


async def test_the_few_that_fit_are_found_best_first(book: LessonBook) -> None:
    await book.put(lesson("rates", "take the rate of the receipt's day"))
    await book.put(lesson("hurt", "open the index of invoices", hurt=1))
    await book.put(lesson("helped", "open the index of invoices", helped=1))
    await book.put(lesson("planted", "open the index of invoices", outside=["web:a.example"]))
    await book.put(lesson("old", "open the index of invoices", renewed=NOW - timedelta(days=300)))
    query = "overdue invoices in the index"
    assert [item.id for item in await book.relevant(query, 5, NOW)] == ["helped", "hurt"]
    assert [item.id for item in await book.relevant(query, 1, NOW)] == ["helped"]


@pytest.mark.parametrize("user", ["ann@example.org", "a.b", "x" * 200])
async def test_any_user_has_a_namespace_of_their_own(store: BaseStore, user: str) -> None:
    mine = LessonBook(store, namespace_of(user, "default"))
    await mine.put(lesson("a", "w"))
    assert [item.id for item in await mine.all()] == ["a"]
    for other in (namespace_of(user + "x", "default"), namespace_of(user, "bills")):
        assert await LessonBook(store, other).all() == []


async def test_the_same_lesson_of_another_task_renews_the_first_in_its_own_words(book: LessonBook) -> None:
    later = NOW + timedelta(days=30)
    await book.learn(lesson("one", "open the index of invoices first"))
    again = lesson("two", "first open the index of invoices", made=later, outside=["web:a.example"])
    kept = await book.learn(again)
    assert (kept.id, kept.found, kept.renewed, kept.quarantined) == ("one", 2, later, False)
    assert [item.worked for item in await book.all()] == ["open the index of invoices first"]


async def test_a_clean_lesson_takes_the_place_of_a_quarantined_one(book: LessonBook) -> None:
    await book.learn(lesson("planted", "open the index first", outside=["web:a.example"]))
    kept = await book.learn(lesson("clean", "open the index first"))
    assert [(item.id, item.quarantined) for item in await book.all()] == [("clean", False)]
    assert kept.found == 2


async def test_a_task_that_is_done_again_leaves_its_lesson_once(book: LessonBook) -> None:
    for worked in ("open the index", "ask the person for the year"):
        await book.learn(lesson("same", worked))
    assert [item.worked for item in await book.all()] == ["ask the person for the year"]


async def test_what_has_faded_is_swept(book: LessonBook) -> None:
    await book.put(lesson("old", "w", renewed=NOW - timedelta(days=300)))
    await book.put(lesson("new", "w"))
    assert await book.sweep(NOW) == ["old"]
    assert [item.id for item in await book.all()] == ["new"]


async def test_embeddings_are_used_where_the_store_has_them() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[float("bill" in text or "invoice" in text), 1.0] for text in texts]

    store = InMemoryStore(index={"dims": 2, "embed": embed})
    book = LessonBook(store, namespace_of("local", "default"))
    await book.put(lesson("rates", "take the rate of the day"))
    await book.put(lesson("invoices", "open the index of invoices"))
    assert [item.id for item in await book.relevant("unpaid bills", 1, NOW)] == ["invoices"]


def test_the_most_similar_one_is_alike_but_never_the_same_task() -> None:
    new = lesson("new", "open the index of invoices first")
    near, far = lesson("near", "open the index of invoices"), lesson("far", "ask for the opening hours")
    assert alike(new, [far, near]) == near
    assert alike(new, [far]) is None
    assert alike(new, [new]) is None


async def test_the_same_words_of_a_task_that_has_read_more_since_are_quarantined(book: LessonBook) -> None:
    await book.learn(lesson("one", "open the index first"))
    await book.learn(lesson("one", "open the index first", outside=["web:a.example"]))
    assert [item.quarantined for item in await book.all()] == [True]


def test_errors_that_have_no_name_yet_are_proposed_those_that_most_name_first() -> None:
    named = ["Rare", "Often", "often", "", "???", "SHALLOW-check"]
    lessons = [lesson(str(at), "w", error_type=name) for at, name in enumerate(named)]
    found = proposed_errors(lessons, ["shallow_check"])
    assert {name: len(group) for name, group in found.items()} == {"often": 2, "rare": 1}
