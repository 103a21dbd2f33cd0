"""A run of a thousand steps: how fast its page opens, and how much it holds."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.browser.threads import STEPS
from tests.browser.viewer import Viewer
from tests.browser.watch import Watch

OPENS_MS = 2_000
NODES = 6_000
_OPENED = """() => performance.getEntriesByType("navigation")[0].loadEventEnd"""
_NODES = """() => document.querySelectorAll("*").length"""


async def test_a_run_of_a_thousand_steps_opens_at_once(page: Page, viewer: Viewer, watch: Watch) -> None:
    """From the start of the navigation to the end of the load event, the server's work included."""
    await page.goto(viewer.path("demo"))  # the server has been asked before
    await page.goto(viewer.path("long"), wait_until="load")
    await page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
    opened, nodes = await page.evaluate(_OPENED), await page.evaluate(_NODES)
    assert opened < OPENS_MS
    assert nodes < NODES
    await expect(page.locator("main")).to_contain_text(str(STEPS))


async def test_a_link_to_a_step_opens_it_on_whichever_page_it_is(
    page: Page, viewer: Viewer, watch: Watch
) -> None:
    await page.goto(f"{viewer.path('long')}#step-700")
    await expect(page.locator("#step-700 > details")).to_have_attribute("open", "")
    await page.evaluate("location.hash = '#step-690'")
    await expect(page.locator("#step-690 > details")).to_have_attribute("open", "")
    await page.evaluate("location.hash = '#step-3'")
    await expect(page.locator("#step-3 > details")).to_have_attribute("open", "")
