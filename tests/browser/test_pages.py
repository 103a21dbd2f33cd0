"""Every page that can be reached by links: accessible, narrow, well formed, and inert whatever a run says."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.checks import accessibility_faults, attacks_that_work, structure_faults, width_faults
from tests.browser.hostile import ATTACKS
from tests.browser.threads import STATUSES
from tests.browser.viewer import Viewer
from tests.browser.watch import Watch

_MOST_PAGES = 40
"""Pages that a walk looks at; each kind of page is looked at once a thread."""
_LINKS = """() => [...document.querySelectorAll("a[href]:not([download], svg *)")].map((each) => each.href)"""


async def faults_of(page: Page) -> list[str]:
    """Everything that is wrong with the page that is open."""
    return [
        *await structure_faults(page),
        *await attacks_that_work(page),
        *await width_faults(page),
        *await accessibility_faults(page),
    ]


async def walk(page: Page, viewer: Viewer, start: str, *others: str) -> dict[str, list[str]]:
    """The faults of `others` and of each page that links lead to from `start`, in one thread or in none."""
    inside = f"/view/threads/{start.split('/')[3]}" if start.startswith("/view/threads/") else ""
    faults: dict[str, list[str]] = {}
    ahead, kinds = [start, *others], set[str]()
    while ahead and len(faults) < _MOST_PAGES:
        path = ahead.pop(0)
        if (kind := re.sub(r"\d+|[0-9a-f-]{36}", "N", path)) in kinds:
            continue
        kinds.add(kind)
        reply = await page.goto(path)
        if reply is None or "text/html" not in reply.headers.get("content-type", ""):
            continue
        faults[path] = [*([f"status {reply.status}"] if reply.status != 200 else []), *await faults_of(page)]
        for link in await page.evaluate(_LINKS):
            parts = urlsplit(link)
            beyond = "/threads/" in parts.path if not inside else not parts.path.startswith(inside)
            if not beyond:
                ahead.append(parts._replace(scheme="", netloc="", fragment="").geturl())
    return faults


@pytest.mark.parametrize("name", STATUSES)
async def test_every_page_of_a_thread(page: Page, viewer: Viewer, watch: Watch, name: str) -> None:
    faults = await walk(page, viewer, viewer.path(name))
    assert {path: found for path, found in faults.items() if found} == {}


async def test_every_page_beside_the_threads(page: Page, viewer: Viewer, watch: Watch) -> None:
    faults = await walk(page, viewer, "/view/", "/view/new")
    assert {path: found for path, found in faults.items() if found} == {}


async def test_the_list_names_every_thread_with_its_status(page: Page, viewer: Viewer) -> None:
    await page.goto("/view/")
    for name, status in STATUSES.items():
        link = page.locator(f'a[href$="{quote(viewer.threads[name])}"]')
        row = page.get_by_role("listitem").or_(page.get_by_role("row")).filter(has=link)
        await expect(row.first).to_contain_text(status)


async def test_a_thread_that_is_not_there_is_named(page: Page, watch: Watch) -> None:
    reply = await page.goto(f"/view/threads/{quote(ATTACKS[0].replace('/', ''))}")
    assert reply is not None
    assert reply.status == 404
    watch.forgive(404)
    assert await faults_of(page) == []
    await expect(page.get_by_role("alert")).to_contain_text("there is no thread <script>")
    await page.get_by_role("link", name="All threads").click()
    await expect(page).to_have_url(re.compile("/view/$"))


_PLANT = """() => {
  const planted = [
    ["script", {textContent: "window.pwned = 1"}],
    ["script", {src: "https://evil.example/x.js"}],
    ["style", {textContent: "body {color: red}"}],
    ["img", {src: "https://evil.example/x.png"}],
    ["iframe", {src: "https://evil.example/"}],
  ];
  const forbidden = new Set();
  return new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (event) => {
      forbidden.add(event.effectiveDirective);
      if (forbidden.size === 5) resolve([...forbidden]);
    });
    setTimeout(() => resolve([...forbidden]), 10_000);
    for (const [tag, values] of planted)
      document.body.append(Object.assign(document.createElement(tag), values));
    fetch("https://evil.example/").catch(() => {});
  });
}"""


async def test_what_got_into_a_page_would_do_nothing(browser: Browser, viewer: Viewer) -> None:
    async with await browser.new_context(base_url=viewer.origin) as context:
        page = await context.new_page()
        await page.goto(viewer.path("demo"))
        forbidden = await page.evaluate(_PLANT)
        assert {*forbidden} == {"script-src-elem", "style-src-elem", "img-src", "frame-src", "connect-src"}
        assert await page.evaluate("window.pwned") is None
