"""The pages of evaluations: the report, a trial's steps, its thread."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from forethought.app.errors import CliError
from forethought.app.viewer.evaluations import named_folders
from tests.forethought.app.conftest import Cli
from tests.forethought.app.viewer.conftest import Page
from tests.support.evaluations import result_record, write_folder

HOSTILE = "<script>alert(1)</script>"


def trajectory(steps: int = 2) -> dict[str, Any]:
    numbered = [{"number": n, "action": f"do {n}", "observation": HOSTILE} for n in range(1, steps + 1)]
    return {
        "trajectory": {"id": "a", "task": f"The task {HOSTILE}", "steps": numbered},
        "reference": {"gold": ["42"]},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [
        result_record("ours", "a/1", 1.0, answer=HOSTILE, trajectory="trajectories/ours/a--1.json"),
        result_record("react", "a/1", 0.0, trajectory="../outside.json"),
        result_record("react", "b", None, error=f"the server {HOSTILE}", trajectory="trajectories/gone.json"),
    ]
    made = write_folder(tmp_path / "runs" / "shop", lines)
    (made / "trajectories/ours").mkdir(parents=True)
    (made / "trajectories/ours/a--1.json").write_text(json.dumps(trajectory(250)))
    (made.parent / "outside.json").write_text(json.dumps(trajectory()))
    return made


@pytest.fixture
def shop(viewer: TestClient, folder: Path) -> None:
    viewer.app.state.evaluations = named_folders([folder.parent])  # type: ignore[attr-defined]


def test_without_a_folder_the_page_says_how_to_name_one(page: Page) -> None:
    assert "forethought view --evaluations FOLDER" in page("/evaluations").text
    page("/evaluations/shop", 404)


@pytest.mark.usefixtures("shop")
def test_the_report_is_that_of_eval_report_and_leads_to_each_trial(
    page: Page, viewer: TestClient, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    assert [one.text for one in page("/evaluations").select("main h2 a")] == ["shop"]
    shown = page("/evaluations/shop")
    assert [row.td.text for row in shown.select("table")[0].select("tr")[1:]] == ["ours", "react"]
    for at, image in enumerate(shown.select("figure img")):
        drawing = viewer.get(str(image["src"]))
        assert (image["src"], drawing.status_code) == (f"/view/evaluations/shop/plots/{at}.svg", 200)
        assert "<svg" in drawing.text
    page(f"/evaluations/shop/plots/{at + 1}.svg", 404)
    assert not shown.select("main script, main style, main svg, [style]")
    assert HOSTILE in shown.text
    links = [str(one["href"]) for one in shown.select(".try a")]
    assert "/view/evaluations/shop/trial?method=ours&sample=a%2F1&trial=1" in links
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (folder / "results.jsonl").write_text((folder / "results.jsonl").read_text() + "\n")
    bare = page("/evaluations/shop")
    assert not bare.select("figure")
    assert "Methods" in bare.text


@pytest.mark.usefixtures("shop")
def test_a_trial_is_shown_step_by_step(page: Page) -> None:
    place = "/evaluations/shop/trial?sample=a/1&trial=1&method="
    shown = page(f"{place}ours")
    assert len(shown.select(".steps > li")) == 100
    assert HOSTILE in shown.text
    assert "42" in shown.text
    assert not shown.select("main script")
    last = [str(one["href"]) for one in shown.select("nav[aria-label='Pages of steps'] a")][-1]
    assert [one.text for one in page(f"/evaluations/shop/trial{last}").select(".steps code")][-1] == "do 250"
    assert "is not in the evaluation's folder" in page(f"{place}react", 500).text
    assert "cannot be read" in page("/evaluations/shop/trial?method=react&sample=b&trial=1", 500).text
    page("/evaluations/shop/trial?method=none&sample=b&trial=1", 404)


@pytest.mark.usefixtures("shop")
def test_a_trial_leads_to_its_thread_where_the_folder_has_it(
    cli: Cli, scripted: Callable[..., Any], page: Page, folder: Path
) -> None:
    scripted()
    lines = [result_record("ours", "a", 1.0, trajectory="trajectories/ours/a--1.json")]
    write_folder(folder, lines)
    assert not page("/evaluations/shop/trial?method=ours&sample=a&trial=1").select("a[href*='/threads/']")
    assert cli("run", "What?", "--thread", "ours--a--1", "--db", str(folder / "threads.sqlite")).code == 0
    (link,) = page("/evaluations/shop/trial?method=ours&sample=a&trial=1").select("a[href*='/threads/']")
    run = page(str(link["href"]).removeprefix("/view"))
    assert run.h1.text == "What?"  # type: ignore[union-attr]
    assert run.find(id="step-3")
    assert not run.select("form")
    page("/evaluations/shop/threads/ours--b--1", 404)


def test_folders_have_names_of_their_own(folder: Path, tmp_path: Path) -> None:
    other = write_folder(tmp_path / "other" / "shop", [])
    assert named_folders([folder, other]) == {"shop": folder, "shop~2": other}
    with pytest.raises(CliError, match="no evaluation there"):
        named_folders([tmp_path / "other" / "shop" / "none"])
