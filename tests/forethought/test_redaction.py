"""What counts as secret by the name of its variable, and that every form of it is redacted."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from forethought.redaction import looks_like_a_key, redact_error, redactor, without_credentials

VALUE = 'val"ue/wïth:signs'


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY", "MY_APIKEY", "OPENAI_KEY", "SSH_PRIVATE_KEY", "AWS_SECRET_ACCESS_KEY",
        "SIGNING_KEY", "API_KEYS", "SECRET_KEY_BASE", "HF_TOKEN", "TOKEN_2",
        "CLIENT_SECRET", "DB_PASSWORD", "DB_PASSWD", "DB_PASS",
        "PGPASSWORD", "GITHUB_PAT", "PASSPHRASE", "tavily_api_key", "MYSQL_PWD", "MY_CREDENTIAL",
        "AWS_CREDENTIALS", "AUTHORIZATION", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        "CLIENT_SECRETS",
    ],
)  # fmt: skip
def test_a_variable_named_like_a_key_is_secret_in_every_form(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, VALUE)
    forms = [
        VALUE,
        json.dumps({"k": VALUE}),
        json.dumps({"k": VALUE}, ensure_ascii=False),
        quote(VALUE, safe=""),
        base64.b64encode(VALUE.encode()).decode(),
    ]
    said = redactor()(" ".join(forms))
    assert said.count("[secret]") == 5
    assert "signs" not in said


def test_a_secret_is_blotted_out_without_the_line_break_that_a_file_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{VALUE}\n")
    assert redactor()(f"sent {VALUE} here") == "sent [secret] here"


def test_a_secret_that_is_no_text_is_one_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "caf\udce9 au lait"  # as os.environ has a byte that is no UTF-8
    monkeypatch.setenv("CLIENT_SECRET", value)
    assert redactor()(f"{value}, and caf%E9%20au%20lait") == "[secret], and [secret]"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("FORETHOUGHT_ACCESS_TOKENS", "alice=alices-own-token, bob=bobs-own-token", "bobs-own-token"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=ours,authorization=Basic%20b3duOnRva2Vu", "b3duOnRva2Vu"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer own-token-1", "own-token-1"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=own%2Ftoken%2F1", "own/token/1"),
        ("AUTHORIZATION", "Bearer own-token-1", "own-token-1"),
    ],
)
def test_what_a_variable_lists_is_secret_by_itself(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
) -> None:
    monkeypatch.setenv(name, value)
    assert redactor()(f"token {secret}.") == "token [secret]."


@pytest.mark.parametrize(
    "name", ["PATH_TO_IT", "KEYBOARD", "MONKEY", "COMPASS", "TOKENIZER", "SECRETARY", "PWD", "MAX_TOKENS"]
)
def test_other_variables_are_not(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "harmless words")
    assert redactor()("harmless words") == "harmless words"


@pytest.mark.parametrize(
    "address", ["postgresql://ann:s3cret%2Fword@db/x", "postgresql://db/x?user=ann&password=s3cret%2Fword"]
)
def test_the_password_of_an_address_is_secret(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    assert "s3cret/word" not in redactor()("wrong password s3cret/word for ann")


@pytest.mark.parametrize(
    ("address", "secret", "rest"),
    [
        ("https://h/v1?x=1&api_key=query-key-1", "query-key-1", "https://h/v1?x=1"),
        ("https://h/v1?tavilyApiKey=query%2Fkey", "query/key", "https://h/v1"),
        ("https://h/v1?access-token=a+token+there", "a+token+there", "https://h/v1"),
        ("https://h/v1?key=query-key-1#top", "query-key-1", "https://h/v1#top"),
        ("https://h/v1?sig=query-key-1", "query-key-1", "https://h/v1"),
        ("https://sk-only0a1token2@h/v1", "sk-only0a1token2", "https://h/v1"),
        ("https://ann:pass%2fword1@h/v1", "pass%2fword1", "https://h/v1"),
        ("redis://:without-a-user@h/1", "without-a-user", "redis://h/1"),
    ],
)
def test_a_key_in_an_address_is_secret_and_not_kept(
    monkeypatch: pytest.MonkeyPatch, address: str, secret: str, rest: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", address)
    assert redactor()(f"refused: {secret}.") == "refused: [secret]."
    assert without_credentials(address) == rest


@pytest.mark.parametrize(
    "address",
    [
        "https://h/gpt-4o-mini-2024-07-18?api-version=2024-05-01-preview&region=europe-west4&monkey=capuchins",
        "https://h/v1?said=two%20wonderfully%20long%20words",
        "https://h/v1?project=frontend2024a&deployment=gpt4turbo2024a&since=20240307T120000Z",
    ],
)
def test_other_options_of_an_address_are_harmless(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", address)
    assert without_credentials(address) == address
    assert redactor()(address) == address


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("HTTPS_PROXY", "http://developer@proxy:3128"),
        ("http_proxy", "http://developer4teams@proxy:3128"),
        ("DOCS_URL", "https://developer@h/x"),
        ("DOCS_URL", "https://h/x?auth=developer"),
    ],
)
def test_the_name_of_a_user_is_a_word(monkeypatch: pytest.MonkeyPatch, name: str, address: str) -> None:
    monkeypatch.setenv(name, address)
    said = "The developer wrote it; senior developers agree, developer4teams too"
    assert redactor()(said) == said


def test_the_password_of_a_proxy_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://developer:hunterhunter@proxy:3128")
    assert redactor()("developer, hunterhunter") == "developer, [secret]"


@pytest.mark.parametrize(
    "text",
    [
        "3f786850e387550fdab836ed7e6dc881", "749e9723-a8f1-4b6e-9d44-446655440000", "AKIAIOSFODNN7EXAMPLE",
        "sk-proj-frontend2024", "ghp_turbo2024turbo", "tvly-dev-turbo2024turbo",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "Bearer sk-9aK3xw7Lq0ZtB5vRmN2c",
    ],
)  # fmt: skip
def test_a_key_is_known_by_its_shape(text: str) -> None:
    assert looks_like_a_key(text)


@pytest.mark.parametrize(
    "text",
    ["gpt4turbo2024a", "20240307T120000Z", "hf_hub_download_v2", "sk-learn-2024-notes", "1234567890123456"],
)
def test_a_name_or_a_date_is_no_key(text: str) -> None:
    assert not looks_like_a_key(text)


def test_an_error_and_its_causes_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "0123456789")
    error = RuntimeError("outer 0123456789")
    error.__cause__ = ValueError("inner 0123456789", 5)
    redact_error(error, redactor())
    assert (str(error), error.__cause__.args) == ("outer [secret]", ("inner [secret]", 5))
