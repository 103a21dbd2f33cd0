"""The exported page of a run opens from disk, without a network and without scripts."""

from __future__ import annotations

from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.async_api import Browser, expect

from tests.browser.checks import accessibility_faults, width_faults
from tests.browser.hostile import MARK
from tests.browser.viewer import Viewer


@pytest.mark.parametrize("name", ["forked", "attack", "hostile"])
async def test_an_exported_run_opens_from_disk(
    browser: Browser, viewer: Viewer, tmp_path: Path, name: str
) -> None:
    path = save(viewer, name, tmp_path)
    asked: list[str] = []
    complaints: list[str] = []
    context = await browser.new_context(offline=True)
    page = await context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto(path.as_uri())
    assert await page.locator("h1").count() == 1
    subtasks = await page.locator("[data-plan] > li").count()
    assert await page.locator("[data-graph] a").count() == subtasks
    assert await page.evaluate("mark => window[mark] === undefined", MARK)
    assert await width_faults(page) == []
    assert (asked, complaints) == ([path.as_uri()], [])
    assert await accessibility_faults(page) == []
    await context.close()


async def test_an_exported_run_is_read_without_scripts(
    browser: Browser, viewer: Viewer, tmp_path: Path
) -> None:
    context = await browser.new_context(offline=True, java_script_enabled=False)
    page = await context.new_page()
    await page.goto(save(viewer, "forked", tmp_path).as_uri())
    await page.locator("#step-2 summary").click()
    await expect(page.locator("#step-2 h4", has_text="Observed")).to_be_visible()
    await context.close()


def save(viewer: Viewer, name: str, folder: Path) -> Path:
    """A thread's page, downloaded from the viewer."""
    path = folder / "run.html"
    with urlopen(f"{viewer.origin}{viewer.path(name)}/export.html", timeout=30) as reply:
        path.write_bytes(reply.read())
    return path
