"""A person's words become advice. A model words it if it can, and it replaces contradicting advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from forethought.app.teach import Said, teach
from forethought.experience.advice import Advice
from forethought.experience.book import Book, namespace_of
from forethought.models import Models
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest

Teach = Callable[..., Any]
WORDED = {
    "kind": "fact", "name": "fiscal_year", "applies": "quarters, fiscal year", "wrong": "",
    "instead": "The fiscal year starts in July.", "replaces": [],
}  # fmt: skip


@pytest.fixture
def book() -> Book:
    return Book(InMemoryStore(), namespace_of("local", "default"))


@pytest.fixture
def taught(book: Book, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Teach:
    """Say something to a model that answers so."""

    async def say(said: Said, reply: Answer | Callable[[SeenRequest], Answer] = WORDED) -> Advice:
        server = model_server(reply if callable(reply) else lambda seen: reply)
        made = settings(server, request_retries=0)
        return await teach(said, book, Models(made), Context(model="openai:scripted"))

    return say


async def test_a_model_words_it_and_it_is_adopted_at_once(book: Book, taught: Teach) -> None:
    advice = await taught(Said("our year starts in July", "t", 2, "Sum up Q1", "Q1 is January"))
    assert (advice.name, advice.kind, advice.state, advice.source) == (
        "fiscal_year", "fact", "adopted", "person",
    )  # fmt: skip
    assert (advice.thread, advice.number) == ("t", 2)
    assert await book.relevant("all quarters of the fiscal year") == [advice]


async def test_without_a_valid_reply_the_words_are_the_advice(book: Book, taught: Teach) -> None:
    advice = await taught(Said("Cancelled  orders never count!", task="Sum of revenue"), Fault("400"))
    assert advice.instead == "Cancelled orders never count!"
    assert advice.name == "cancelled_orders_never_count"
    assert await book.relevant("revenue sum") == [advice]


async def test_said_again_it_is_kept_once(book: Book, taught: Teach) -> None:
    for _ in range(2):
        await taught(Said("our year starts in July", "t", 1))
    assert len(await book.all()) == 1


async def test_what_it_contradicts_is_replaced_and_stays_as_history(book: Book, taught: Teach) -> None:
    first = await taught(Said("our fiscal year starts in July"))

    def replacing(seen: SeenRequest) -> Answer:
        assert "The fiscal year starts in July." in seen.text
        return {**WORDED, "instead": "The fiscal year starts in April.", "replaces": ["k1", "k7"]}

    second = await taught(Said("no, the fiscal year starts in April"), replacing)
    assert second.replaces == [first.id]
    old = await book.get(first.id)
    assert old is not None
    assert (old.state, old.replaced_by) == ("replaced", second.id)


async def test_no_secret_is_kept(taught: Teach) -> None:
    advice = await taught(Said("use sk-abcdefghijklmnopqrstuvwx for reports"), Fault("400"))
    assert "sk-abc" not in advice.model_dump_json()
