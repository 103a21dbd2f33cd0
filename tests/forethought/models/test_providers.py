"""Keys, names and prices of providers; no key goes to an address that it does not belong to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from pydantic import BaseModel, ValidationError

from forethought.models import ConfigurationError, Message, Models, reply_spec
from forethought.models.pricing import price, saved_tokens
from forethought.models.providers import split
from forethought.settings import Settings
from tests.support.model_server import ModelServer, script

Start = Callable[..., ModelServer]
Make = Callable[..., Settings]


class Ok(BaseModel):
    ok: bool


async def ask(settings: Settings, model: str) -> object:
    return await Models(settings).ask(
        role="tool", model=model, messages=[Message("user", "?")], reply=reply_spec(Ok)
    )


async def test_no_key_but_the_operators_goes_to_a_base_url(
    model_server: Start, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "OPENAI_API_KEY": "sk-private-key",
        "OPENAI_ORG_ID": "org-private",
        "ANTHROPIC_API_KEY": "sk-ant-private",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    server = model_server(script({"ok": True}))
    for model in ("openai:gpt-4.1", "anthropic:claude-sonnet-4-5", "qwen3:8b"):
        await ask(settings(server), model)
        await ask(settings(server, api_key="given-by-operator"), model)
    assert {seen.key for seen in server.requests} == {"not-needed", "given-by-operator"}
    assert "private" not in str([(seen.headers, seen.body) for seen in server.requests])
    assert {seen.body["model"] for seen in server.requests} == {"gpt-4.1", "claude-sonnet-4-5", "qwen3:8b"}


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-4.1", "OPENAI_API_KEY"),
        ("google_genai:gemini-2.5-flash", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_the_first_call(model: str, variable: str, settings: Make) -> None:
    with pytest.raises(ConfigurationError, match=f"set {variable}") as caught:
        Models(settings()).verify([model])
    assert "\n" not in str(caught.value)


async def test_white_space_around_a_key_is_not_sent(
    model_server: Start, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = model_server(script({"ok": True}))
    await ask(settings(server, api_key=" given-by-operator\r\n"), "m")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somekey\n")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    await ask(settings(), "openai:gpt-4.1")
    assert [seen.key for seen in server.requests] == ["given-by-operator", "sk-somekey"]


@pytest.mark.parametrize(
    "key", ["sk-some\nkey-", "sk-s\u00f6mekey", "sk-some\u200bkey", "\ufeffsk-somekey", "\udce9"]
)
def test_what_cannot_be_a_key_is_refused_and_not_repeated(
    key: str, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", key)
    with pytest.raises(
        ConfigurationError, match=r"^GEMINI_API_KEY cannot be a key: .* copy it again"
    ) as caught:
        Models(settings()).verify(["google_genai:gemini-2.5-flash"])
    with pytest.raises(ValidationError, match="cannot be a key") as refused:
        settings(api_key=key)
    assert "key-" not in f"{caught.value}{refused.value}"
    assert key not in f"{caught.value}{refused.value}"


def test_a_blank_key_is_none(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " \n")
    with pytest.raises(ConfigurationError, match="set OPENAI_API_KEY"):
        Models(settings()).verify(["openai:gpt-4.1"])
    assert settings(api_key=" \n").api_key is None


def test_a_missing_package_is_named(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_groq", None)
    monkeypatch.setenv("GROQ_API_KEY", "gsk-somekey")
    with pytest.raises(ConfigurationError, match="pip install langchain-groq"):
        Models(settings()).verify(["groq:llama-3.3-70b"])


@pytest.mark.parametrize("model", ["nobody:some-model", "gpt-4.1", "openai:"])
def test_an_unknown_provider_is_one_line(model: str, settings: Make) -> None:
    with pytest.raises(ConfigurationError, match="write provider:name") as caught:
        Models(settings()).verify([model])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "base_url", "expected"),
    [
        ("openai:gpt-4.1", None, ("openai", "gpt-4.1")),
        ("ollama:qwen3:8b", None, ("ollama", "qwen3:8b")),
        ("openai:qwen3:8b", "http://x/v1", ("openai", "qwen3:8b")),
        ("qwen3:8b", "http://x/v1", ("openai", "qwen3:8b")),
    ],
)
def test_provider_and_name(model: str, base_url: str | None, expected: tuple[str, str]) -> None:
    assert split(model, base_url) == expected


def test_prices_count_cached_tokens_apart() -> None:
    assert saved_tokens("gpt-4.1", "openai", None, 1000, 800) == 600, "they cost a quarter"
    assert saved_tokens("gpt-4.1", "openai", None, 1000, 0) == 0
    assert saved_tokens("no-such-model", "openai", None, 1000, 800) == 0
    whole = price("gpt-4.1", "openai", None, 1000, 100, 0)
    cached = price("gpt-4.1", "openai", None, 1000, 100, 800)
    assert whole is not None
    assert cached is not None
    assert 0 < cached < whole
    assert price("gemini-2.5-flash", "google_genai", None, 1000, 100, 0)


@pytest.mark.parametrize(
    ("model", "provider", "base_url"),
    [
        ("no-such-model", "openai", None),
        ("x", "nobody", None),
        ("gpt-4.1", "openai", "http://127.0.0.1:9/v1"),
    ],
)
def test_an_unknown_price_is_not_nought(model: str, provider: str, base_url: str | None) -> None:
    assert price(model, provider, base_url, 1000, 100, 0) is None


def test_importing_loads_no_provider() -> None:
    code = (
        "import sys, forethought.models as m\n"
        "names = ('langchain', 'langchain_openai', 'langchain_google_genai', 'openai', 'genai_prices')\n"
        "heavy = [n for n in sys.modules if n.split('.')[0] in names]\n"
        "print(heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_check_of_the_key_loads_no_client(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setattr("forethought.models.providers.build", lambda *_: pytest.fail("built for nothing"))
    Models(settings()).verify(["openai:gpt-4.1"])
