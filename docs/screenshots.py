"""The pictures of the viewer in docs/images, taken of the demo's run in the machine's Chromium.

    python -m docs.screenshots

Each is 1280 pixels wide and has 128 colours, which keeps it under 250 KB.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.threads import commands
from tests.browser.viewer import Viewer
from tests.forethought.app.scripted import Script
from tests.support.chromium import launch_options
from tests.support.model_server import ModelServer

IMAGES = Path(__file__).parent / "images"
HEIGHT = 1000


def main() -> None:
    """Run the demo, open its pages, and write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        models = ModelServer(Script())
        with commands(Path(folder), models) as command:
            command("run", "What is 40 + 2?")
            command("run", "--demo")
        viewer = Viewer(Path(folder), models.url)
        try:
            viewer.wait_until_ready()
            take(viewer.origin)
        finally:
            viewer.close()
            models.close()


def take(origin: str) -> None:
    """Picture the list of threads, and the newest thread in light and in dark colours."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())
        page = browser.new_page(viewport={"width": 1280, "height": HEIGHT}, base_url=origin)
        page.goto("/view/")
        write("viewer-threads.png", page.screenshot())
        page.locator('main a[href*="/threads/"]').first.click()
        page.wait_for_load_state("load")
        write("viewer-run.png", page.screenshot())
        page.emulate_media(color_scheme="dark")
        write("viewer-run-dark.png", page.screenshot())
        browser.close()


def write(name: str, picture: bytes) -> None:
    """Write a picture with few colours."""
    IMAGES.mkdir(exist_ok=True)
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(128).save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    main()
