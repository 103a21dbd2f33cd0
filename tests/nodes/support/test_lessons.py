"""Whose lessons a run sees, and where it must not begin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from langgraph.runtime import Runtime, ServerInfo
from langgraph.store.memory import InMemoryStore

from forethought.lessons.book import namespace_of
from forethought.nodes.support.lessons import open_book
from forethought.nodes.support.services import user_of
from forethought.state.context import Context


def runtime(user: str | None = None, *, server: bool = False) -> Runtime[Context]:
    """A runtime as a server, or nobody, gives it."""
    asked: Any = SimpleNamespace(identity=user) if user is not None else None
    info = ServerInfo(assistant_id="a", graph_id="agent", user=asked) if server else None
    return Runtime(context=Context(), store=InMemoryStore(), server_info=info)


def test_a_user_is_who_the_server_says() -> None:
    assert user_of(runtime()) == "local"
    assert user_of(runtime(server=True)) == "local"
    assert user_of(runtime("ann@example.org", server=True)) == "ann@example.org"


def test_the_book_is_the_users_and_the_namespaces() -> None:
    book = open_book(runtime("ann", server=True), Context(lesson_namespace="bills"))
    assert book.namespace == namespace_of("ann", "bills") == ("lessons", "ann", "bills")
