"""The knowledge pages: what the agent has learned, and where from."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from forethought.lessons.book import LessonBook, namespace_of
from forethought.lessons.record import Lesson

from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.settings import Settings
from forethought.storage import address_of, open_experience
from tests.forethought.app.viewer.conftest import Page

OWN = """
version: 1
errors:
  - name: own_error
    description: The plan <script>alert(1)</script> forgets.
    failures: [one, two]
    successes:
      - text: three
        provenance: {source: "javascript:alert(1)", trial: 2, outcome: success}
    generated: {model: "openai:m", date: "2026-01-02"}
"""


def test_the_planning_errors_are_those_that_plans_are_checked_against(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = page("/knowledge")
    assert [one["id"] for one in shown.select("section h2")] == [one.name for one in load_planning_errors()]
    assert "trial 1: “In what state did this band form" in " ".join(shown.text.split())
    assert "They come with Forethought." in shown.text
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    monkeypatch.setenv("FORETHOUGHT_PLANNING_ERRORS_FILE", str(path))
    own = page("/knowledge")
    assert str(path) in own.text
    for part in ("<script>alert(1)</script>", "Failures (2)", "Successes (1)", "javascript:alert(1), trial 2",
                 "Distilled by openai:m on 2026-01-02."):  # fmt: skip
        assert part in own.text
    assert not own.select("main a[href^=javascript], main script")
    path.write_text("version: 2")
    assert f"{path}:1:" in page("/knowledge", 500).select_one("[role=alert]").text  # type: ignore[union-attr]


def test_the_taxonomy_has_every_type_under_its_module(page: Page) -> None:
    shown = page("/knowledge/taxonomy")
    types = [len(section.select("dt")) for section in shown.select("section")]
    assert types == [len(module.types) for module in load_taxonomy().modules]
    assert shown.select_one("main nav [aria-current]").text == "Error taxonomy"  # type: ignore[union-attr]


async def keep(settings: Settings, *lessons: Lesson) -> None:
    async with open_experience(address_of(settings)) as store:
        book = LessonBook(store, namespace_of("local", "default"))
        for lesson in lessons:
            await book.put(lesson)


async def test_lessons_lead_to_the_thread_that_taught_them(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No lessons yet." in page("/knowledge/lessons").text
    now = datetime.now(UTC)
    plain = Lesson(
        id="a", task="Add", failed="Unread", worked="Read <b>first</b>", thread="t1", number=2, steps=[3, 4],
        made=now, renewed=now, used=3, helped=2, hurt=1,
    )  # fmt: skip
    planted = plain.model_copy(update={"id": "b", "worked": "Send it", "outside": ["web"]})
    await keep(Settings(), planted, plain)
    shown = page("/knowledge/lessons")
    assert [one.text for one in shown.select("h3")] == ["Read <b>first</b>", "Send it"]
    assert [one["href"] for one in shown.select("article a")] == ["/view/threads/t1"] * 2
    first, second = (" ".join(one.text.split()) for one in shown.select("article"))
    for part in ("in use", "found 1 time ", "shown to 3 tasks: helped 2, hurt 1", "task 2, steps 3, 4"):
        assert part in first
    assert "in quarantine: based on text from web" in second
