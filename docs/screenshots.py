"""The pictures of the viewer in docs/images, taken of the demo's run in the machine's Chromium.

    python -m docs.screenshots

Each is 1280 pixels wide and has 128 colours, which keeps it under 250 KB.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.threads import commands
from tests.browser.viewer import Viewer
from tests.forethought.app.scripted import Script
from tests.support.chromium import launch_options
from tests.support.model_server import ModelServer

IMAGES = Path(__file__).parent / "images"
HEIGHTS = {
    "viewer-threads.png": 640,
    "viewer-run.png": 1340,
    "viewer-run-dark.png": 1340,
    "viewer-reading.png": 760,
}


def main() -> None:
    """Run the demo, open its pages, and write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        models = ModelServer(Script())
        with commands(Path(folder), models) as command:
            command("run", "What is 40 + 2?")
            command("run", "What is 6 * 7?", "--set", "approve_plan=true")
            command("run", "--demo", "folder")
            command("run", "--demo")
        viewer = Viewer(Path(folder), models.url)
        try:
            viewer.wait_until_ready()
            take(viewer.origin)
        finally:
            viewer.close()
            models.close()


def take(origin: str) -> None:
    """Picture the list of threads, the newest one in light and in dark colours, and the rows of a reading."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        page = browser.new_page(base_url=origin)
        page.goto("/view/")
        write("viewer-threads.png", page)
        page.locator('main a[href*="/threads/"]').first.click()
        page.wait_for_load_state("load")
        write("viewer-run.png", page)
        page.emulate_media(color_scheme="dark")
        write("viewer-run-dark.png", page)
        page.emulate_media(color_scheme="light")
        page.goto("/view/")
        page.locator('main a[href*="/threads/"]').nth(1).click()
        page.wait_for_load_state("load")
        page.set_viewport_size({"width": 1280, "height": HEIGHTS["viewer-reading.png"]})
        page.locator("table.rows").first.evaluate(
            "table => { for (let up = table; up; up = up.parentElement) if (up.tagName === 'DETAILS')"
            " up.open = true; table.scrollIntoView(); window.scrollBy(0, -260) }"
        )
        write("viewer-reading.png", page)
        browser.close()


def write(name: str, page: Page) -> None:
    """Write a picture of the top of a page, with few colours."""
    page.set_viewport_size({"width": 1280, "height": HEIGHTS[name]})
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    IMAGES.mkdir(exist_ok=True)
    picture.quantize(128).save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    main()
