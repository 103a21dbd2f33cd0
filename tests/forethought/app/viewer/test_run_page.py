"""The page of a run, as its template writes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from starlette.testclient import TestClient

from forethought.app.viewer.run_data import run_data
from forethought.app.viewer.site import TEMPLATES
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import failed_run
from tests.forethought.app.viewer.conftest import Page
from tests.support.sample_state import step

MOST_ELEMENTS = 6_000


def test_a_verdict_is_told_at_its_step_and_beside_its_run(
    cli: Cli, debugging: Callable[..., Any], page: Page
) -> None:
    _, server = debugging()
    failed_run(cli, server)
    assert cli("debug", "t1").code == 0
    assert "Debugging debug:t1:1" in page("/").text
    seen = page("/threads/t1")
    assert "critical error" in seen.select("#step-3 summary")[0].text
    assert "parameter error" in seen.select("#step-3 .event")[0].text
    assert "critical error" not in seen.select("#step-2 summary")[0].text


def test_an_export_holds_the_question_that_waits(
    cli: Cli, scripted: Callable[..., Any], tmp_path: Path
) -> None:
    script, _ = scripted()
    script.question = "Which colour?"
    assert cli("run", "What is 40 + 2?", "--thread", "t1").code == 4
    cli("show", "t1", "--html", "run.html")
    exported = BeautifulSoup((tmp_path / "run.html").read_text("utf-8"), "html.parser")
    assert "Which colour?" in exported.select("section[aria-labelledby=questions]")[0].text
    assert not exported.select("form")


def test_a_thousand_steps_stay_within_the_budget_of_elements(
    cli: Cli, scripted: Callable[..., Any], viewer: TestClient
) -> None:
    scripted()
    cli("run", "What is 40 + 2?", "--thread", "t1")
    steps = [
        step(n, "add", task=1, round=1, plan_version=1, wave=n, ok=True, observation="line\n" * 40,
             expected="a number", surprise="minor", usage={"calls": 1, "input_tokens": 9})
        for n in range(4, 1_001)
    ]  # fmt: skip
    assert viewer.portal is not None
    runs = viewer.app.state.runs  # type: ignore[attr-defined]
    snapshot = viewer.portal.call(runs.snapshot, "t1")
    long = snapshot._replace(
        values={**snapshot.values, "trajectory": [*snapshot.values["trajectory"], *steps]}
    )

    async def state(*_: object) -> Any:
        return long

    runs.snapshot = state
    data = viewer.portal.call(run_data, runs, "t1")
    html = TEMPLATES.get_template("run.html.j2").render(form={}, **data)
    seen = BeautifulSoup(html, "html.parser")
    assert len(seen.select("li.step")) == 50
    assert len(seen.find_all(True)) < MOST_ELEMENTS
