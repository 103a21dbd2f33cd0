"""What every page has to be: accessible, as narrow as a phone, and inert."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.async_api import Page

from tests.browser.hostile import HIDDEN, MARK

_AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
_RUN_AXE = """async (rules) => {
  const found = await axe.run(document, {resultTypes: ["violations"], ...rules});
  return found.violations.filter((each) => ["serious", "critical"].includes(each.impact)).map((each) =>
    `${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
}"""
_WIDER = """() => [...document.querySelectorAll("body *")].filter((each) => {
  const box = each.getBoundingClientRect();
  for (let up = each.parentElement; up && up !== document.body; up = up.parentElement)
    if (getComputedStyle(up).overflowX !== "visible") return false;
  return box.width && box.right > innerWidth + 1;
}).slice(0, 5).map((each) => each.outerHTML.slice(0, 150))"""
_ATTACKS = """(mark) => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const addresses = ["href", "src", "action", "formaction"];
  const away = (value) => !/^https?:/.test(new URL(value, document.baseURI).protocol);
  return [
    ...(window[mark] ? ["a script ran"] : []),
    ...all("iframe, object, embed, base, meta[http-equiv], main style, main script:not([src])"),
    ...all("*").filter((each) => [...each.attributes].some((one) => /^on|^style$/.test(one.name))),
    ...all("[href], [src], [action], [formaction]").filter((each) => addresses.some((name) =>
      each.hasAttribute(name) && away(each.getAttribute(name)))),
    ...all("img[src]").filter((each) => new URL(each.src).origin !== location.origin),
  ].map((each) => each.outerHTML ? each.outerHTML.slice(0, 200) : each);
}"""
_LANDMARKS = """() => [...document.querySelectorAll("main, h1, header nav")].map((each) => each.localName)"""


async def accessibility_faults(page: Page) -> list[str]:
    """Serious and critical findings of axe-core, in light colours and the contrast also in dark ones."""
    await page.evaluate(_AXE)
    await page.emulate_media(color_scheme="light")
    found: list[str] = await page.evaluate(_RUN_AXE, {})
    await page.emulate_media(color_scheme="dark")
    dark = await page.evaluate(_RUN_AXE, {"runOnly": {"type": "rule", "values": ["color-contrast"]}})
    await page.emulate_media(color_scheme="null")
    return found + [f"dark: {text}" for text in dark]


async def width_faults(page: Page) -> list[str]:
    """What makes the page scroll sideways on a phone."""
    await page.set_viewport_size({"width": 375, "height": 700})
    wide: bool = await page.evaluate("document.documentElement.scrollWidth > innerWidth")
    faults: list[str] = (await page.evaluate(_WIDER) or ["it scrolls"]) if wide else []
    await page.set_viewport_size({"width": 1280, "height": 800})
    return faults


async def structure_faults(page: Page) -> list[str]:
    """What a page lacks of a title, a language, one main part, one first heading and navigation."""
    landmarks: list[str] = await page.evaluate(_LANDMARKS)
    has: dict[str, Any] = {
        "a title": await page.title(),
        "a language": await page.evaluate("document.documentElement.lang"),
        "one main": landmarks.count("main") == 1,
        "one h1": landmarks.count("h1") == 1,
        "navigation": "nav" in landmarks,
    }
    return [f"lacks {name}" for name, there in has.items() if not there]


async def attacks_that_work(page: Page) -> list[str]:
    """What text of a run did to the page: scripts, elements, links out of the viewer, hidden characters."""
    found: list[str] = await page.evaluate(_ATTACKS, MARK)
    text = await page.content()
    return found + [f"holds U+{ord(sign):04X}" for sign in HIDDEN if sign in text]
