"""The viewer without a mouse."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.browser.viewer import Viewer

pytestmark = pytest.mark.usefixtures("watch")
_FOCUS = """() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const drawn = outlined || style.boxShadow !== "none";
  const box = at.getBoundingClientRect();
  return {tag: at.localName, drawn, within: box.width > 0 && box.bottom > 0 && box.top < innerHeight,
          html: at.outerHTML.slice(0, 100)};
}"""


@pytest.mark.parametrize("name", ["demo", "waiting", "failed", "hostile"])
async def test_every_stop_of_the_tab_key_can_be_seen(page: Page, viewer: Viewer, name: str) -> None:
    await page.goto(viewer.path(name))
    hidden = []
    for _ in range(60):
        await page.keyboard.press("Tab")
        stop = await page.evaluate(_FOCUS)
        if stop["tag"] == "body":
            break
        if not (stop["drawn"] and stop["within"]):
            hidden.append(stop["html"])
    assert hidden == []


async def test_the_first_tab_skips_to_the_content(page: Page, viewer: Viewer) -> None:
    await page.goto(viewer.path("demo"))
    await page.keyboard.press("Tab")
    await expect(page.get_by_text("Skip to the content")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()


async def test_a_step_opens_and_closes(page: Page, viewer: Viewer) -> None:
    await page.goto(viewer.path("demo"))
    step = page.locator("li.step > details").first
    await step.locator("> summary").focus()
    for key, open_ in (("Enter", True), ("Space", False)):
        await page.keyboard.press(key)
        assert await step.evaluate("(each) => each.open") is open_
