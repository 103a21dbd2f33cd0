"""The page on experience: advice with its effect, and the planning errors."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from forethought.experience.advice import Advice, Gate, Proof
from forethought.experience.book import Book, namespace_of
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
    shown = page("/experience")
    assert [one["id"] for one in shown.select("section h3")] == [one.name for one in load_planning_errors()]
    assert "trial 1: “In what state did this band form" in " ".join(shown.text.split())
    assert "They come with Forethought." in shown.text
    path = tmp_path / "own.yaml"
    path.write_text(OWN)
    monkeypatch.setenv("FORETHOUGHT_PLANNING_ERRORS_FILE", str(path))
    own = page("/experience")
    assert str(path) in own.text
    for part in ("<script>alert(1)</script>", "Failures (2)", "Successes (1)", "javascript:alert(1), trial 2",
                 "Distilled by openai:m on 2026-01-02."):  # fmt: skip
        assert part in own.text
    assert not own.select("main a[href^=javascript], main script")
    path.write_text("version: 2")
    assert f"{path}:1:" in page("/experience", 500).select_one("[role=alert]").text  # type: ignore[union-attr]


def test_the_taxonomy_has_every_type_under_its_module(page: Page) -> None:
    shown = page("/experience")
    types = [len(module.select("dt")) for module in shown.select("details.taxonomy")]
    assert types == [len(module.types) for module in load_taxonomy().modules]
    assert shown.select_one("nav [aria-current]").text == "Experience"  # type: ignore[union-attr]


async def keep(*items: Advice) -> None:
    async with open_experience(address_of(Settings())) as store:
        book = Book(store, namespace_of("local", "default"))
        for item in items:
            await book.put(item)


async def test_an_advice_shows_its_evidence_its_life_and_its_effect(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "/remember" in page("/experience").text
    now = datetime.now(UTC)
    plain = Advice(
        id="a", name="read_first", applies="Add", instead="Read <b>first</b>", source="learn", made=now,
        thread="t1", number=2, steps=[3, 4], shown=3, applied=2, helped=2,
        proof=Proof(status="proven", flips=3, runs=3, control_runs=3), gate=Gate(prevented=4, runs=5),
    )  # fmt: skip
    changes = {"id": "b", "instead": "Send it", "outside": ["web"], "state": "quarantined"}
    await keep(plain.model_copy(update=changes), plain)
    shown = page("/experience")
    assert [one.text for one in shown.select("article h3")] == ["Read <b>first</b>", "Send it"]
    assert [one["href"] for one in shown.select("article a")] == ["/view/threads/t1"] * 2
    first, second = (" ".join(one.text.split()) for one in shown.select("article"))
    for part in ("adopted", "shown to 3 tasks: applied 2, helped 2, harmed 0", "task 2, steps 3, 4",
                 "proven: 3 of 3 re-runs", "prevented 4, broke 0 of 5 plans"):  # fmt: skip
        assert part in first
    assert "quarantined: based on text from web" in second
