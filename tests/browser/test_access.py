"""Who may use the viewer, and what the others are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.checks import accessibility_faults, structure_faults, width_faults
from tests.browser.viewer import Viewer
from tests.browser.watch import Watch

TOKEN = "a-very-long-token-of-hers"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """A viewer with an access token and without a model's key."""
    started = Viewer(
        tmp_path_factory.mktemp("guarded"), None, settings={"FORETHOUGHT_ACCESS_TOKENS": f"her={TOKEN}"}
    )
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.close()


async def test_a_person_signs_in_and_learns_that_the_model_needs_a_key(
    page: Page, guarded: Viewer, watch: Watch
) -> None:
    watch.origin = guarded.origin
    await page.goto(f"{guarded.origin}/view/new?x=1")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert await structure_faults(page) + await width_faults(page) + await accessibility_faults(page) == []
    await page.get_by_label("Access token").fill("something else")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_have_text("Unknown access token.")
    await page.get_by_label("Access token").fill(TOKEN)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("New task")
    watch.forgive(401)
    assert await page.evaluate("document.cookie") == "", "scripts cannot read the token"

    await page.get_by_label("Task", exact=True).fill("What is it?")
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_role("alert")).to_contain_text("needs a key: set OPENAI_API_KEY")
    await expect(page.get_by_role("textbox", name="Task")).to_have_value("What is it?")
    watch.forgive(422)


async def test_another_sites_form_does_nothing(page: Page, viewer: Viewer, watch: Watch) -> None:
    form = f'<form method="post" action="{viewer.origin}/view/new"><input name="task" value="x"><button>'
    await page.set_content(form)
    await page.get_by_role("button").click()
    await expect(page.get_by_role("alert")).to_have_text("Another site's page may not do this.")
    watch.forgive(403)
