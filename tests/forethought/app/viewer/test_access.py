"""Who is let in: this machine's own browser, or whoever has a token; never another site's page."""

from __future__ import annotations

import httpx
import pytest

from tests.forethought.app.viewer.conftest import ADDRESS, Open

TOKEN = "a-very-long-token-of-hers"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"x-forwarded-for": "10.0.0.1"},
        {"origin": "https://evil.example"},
    ],
)
async def test_only_this_machine_is_served_without_tokens(open_viewer: Open, headers: dict[str, str]) -> None:
    async with open_viewer() as browser:
        assert (await browser.get("/")).status_code == 200
        refused = await browser.get("/", headers=headers)
        assert (refused.status_code, "no access tokens" in refused.text) == (403, True)
    async with open_viewer(client="10.0.0.2") as stranger:
        assert (await stranger.get("/")).status_code == 403
        assert (await stranger.get("/static/style.css")).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://smith.langchain.com"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_another_sites_form_does_nothing(open_viewer: Open, headers: dict[str, str]) -> None:
    async with open_viewer() as browser:
        own = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
        assert (await browser.post("/new", {"task": " "}, headers=own)).status_code == 422
        assert (await browser.post("/new", {"task": " "}, headers=headers)).status_code == 403


async def test_with_tokens_a_person_signs_in(open_viewer: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_ACCESS_TOKENS", f"alice={TOKEN}")
    async with open_viewer(client="10.0.0.2") as browser:
        asked = await browser.get("/new")
        assert (asked.status_code, 'value="/view/new"' in asked.text) == (401, True)
        wrong = await browser.post("/sign-in", {"token": "something", "next": "/view/new"})
        assert (wrong.status_code, "Unknown access token" in wrong.text, "set-cookie" in wrong.headers) == (
            401,
            True,
            False,
        )
        page = await browser.post("/sign-in", {"token": TOKEN, "next": "/view/new"})
        assert page.url.path == "/view/new"
        cookie = page.history[0].headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert (await browser.get("/")).status_code == 200, "with the cookie"


async def test_a_link_with_the_token_signs_in_and_leads_to_the_page(
    open_viewer: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ACCESS_TOKENS", f"alice={TOKEN}")
    async with open_viewer(client="10.0.0.2") as browser:
        page = await browser.get("/new", params={"token": TOKEN, "x": "1"})
        assert str(page.url) == f"{ADDRESS}/view/new?x=1"
        elsewhere = await browser.post("/sign-in", {"token": TOKEN, "next": "//evil.example/"})
        assert elsewhere.url == httpx.URL(f"{ADDRESS}/view/")
