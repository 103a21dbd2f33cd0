"""Who is let in: a token's user, or this machine itself where there are no tokens."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from pydantic import ValidationError

from forethought.redaction import redactor
from forethought.server import access
from forethought.server.access import NoAccess, identity
from forethought.settings import Settings, read_settings
from forethought.users import LOCAL_USER, label_of

ALICE, BOB = "alices-very-own-token", "bobs-very-own-token"
LOCAL = {"host": "127.0.0.1:2024"}


def with_tokens() -> Settings:
    return Settings(access_tokens=f"alice={ALICE}, bob={BOB}")


@pytest.mark.parametrize(
    ("authorization", "user"),
    [(f"Bearer {ALICE}", "alice"), (f"bearer  {BOB} ", "bob")],
)
def test_a_token_names_its_user_wherever_the_client_is(authorization: str, user: str) -> None:
    assert identity(with_tokens(), authorization, "203.0.113.9", {}) == user


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        ALICE,
        f"Basic {ALICE}",
        f"Bearer {ALICE}x",
        f"Bearer alice={ALICE}",
    ],
)
def test_nothing_else_is_let_in_not_even_from_this_machine(authorization: str | None) -> None:
    with pytest.raises(NoAccess) as refused:
        identity(with_tokens(), authorization, "127.0.0.1", LOCAL)
    assert ALICE not in str(refused.value)


@pytest.mark.parametrize("client", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_without_tokens_this_machine_is_served(client: str) -> None:
    assert identity(Settings(), None, client, {"host": "localhost:2024"}) == LOCAL_USER
    assert identity(Settings(), None, client, {"host": "[::1]:2024"}) == LOCAL_USER


@pytest.mark.parametrize("origin", ["https://smith.langchain.com", "http://localhost:3000", "http://[::1]:1"])
def test_studio_and_pages_of_this_machine_are_served(origin: str) -> None:
    assert identity(Settings(), None, "127.0.0.1", {**LOCAL, "origin": origin}) == LOCAL_USER


@pytest.mark.parametrize(
    ("client", "headers"),
    [
        ("203.0.113.9", LOCAL),
        ("10.0.0.7", LOCAL),
        ("::ffff:203.0.113.9", LOCAL),
        (None, LOCAL),
        ("not an address", LOCAL),
        ("127.0.0.1", {**LOCAL, "x-forwarded-for": "203.0.113.9"}),
        ("127.0.0.1", {**LOCAL, "forwarded": "for=203.0.113.9"}),
        ("127.0.0.1", {"host": "attacker.example:2024"}),
        ("127.0.0.1", {"host": "localhost.attacker.example"}),
        ("127.0.0.1", {}),
        ("127.0.0.1", {**LOCAL, "origin": "https://attacker.example"}),
        ("127.0.0.1", {**LOCAL, "origin": "https://smith.langchain.com.attacker.example"}),
        ("127.0.0.1", {**LOCAL, "origin": "null"}),
    ],
)
def test_without_tokens_nobody_else_is(client: str | None, headers: dict[str, str]) -> None:
    with pytest.raises(NoAccess, match="no access tokens"):
        identity(Settings(), f"Bearer {ALICE}", client, headers)


@pytest.mark.parametrize(
    "text",
    [
        "alice",
        "alice=short",
        "=aaaaaaaaaaaaaaaaaaaa",
        f"a/b={ALICE}",
        f"alice={ALICE},alice={BOB}",
        f"alice={ALICE},bob={ALICE}",
        f"..={ALICE}",
        f"alice={ALICE}é",
        f"alice={ALICE}\tx",
        ",",
        " , ",
        " ",
    ],
)
def test_unusable_tokens_are_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(access_tokens=text)
    assert ALICE not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"local={ALICE}", "uses a reserved name"),
        (f"alice={ALICE}, Local={BOB}", "uses a reserved name"),
        (f"system={ALICE}", "uses a reserved name"),
        (f"{label_of('a.b')}={ALICE}", "user-HASH"),
        (f"alice={ALICE},Alice={BOB}", "differ only in case"),
    ],
)
def test_a_name_that_means_something_is_refused_in_one_line(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ACCESS_TOKENS", text)
    with pytest.raises(ValueError, match=said) as refused:
        read_settings()
    assert str(refused.value).startswith("FORETHOUGHT_ACCESS_TOKENS: ")
    assert ALICE not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_each_token_is_a_secret() -> None:
    scrub = redactor(with_tokens())
    assert scrub(f"{ALICE} and {BOB}") == "[secret] and [secret]"


def test_a_server_with_a_wrong_setting_ends_with_a_line_before_it_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORETHOUGHT_ACCESS_TOKENS", "alice=tooshort")
    path = Path(access.__file__).with_name("auth.py")
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path))
    assert str(ended.value).startswith("forethought: FORETHOUGHT_ACCESS_TOKENS: must be name=token")
    assert "tooshort" not in str(ended.value)
