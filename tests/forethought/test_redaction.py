"""What counts as secret, that every form of it is redacted, and that ordinary words never are."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import time
import uuid
from pathlib import Path
from urllib.parse import quote

import pytest

from forethought.redaction import (
    is_strong,
    redact_error,
    redactor,
    register_secrets,
    weak_secrets,
    without_credentials,
)

VALUE = 'val"ue/wïth:signs-9aK3xw7Lq0'
KEY = "9aK3xw7Lq0ZtB5vRmN2c"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
PEM = (
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"
    "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----"
)


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
    value = "caf\udce9 au 9aK3xw7Lq0"  # as os.environ has a byte that is no UTF-8
    monkeypatch.setenv("CLIENT_SECRET", value)
    assert redactor()(f"{value}, and caf%E9%20au%209aK3xw7Lq0") == "[secret], and [secret]"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        (
            "FORETHOUGHT_ACCESS_TOKENS",
            "alice=alices-very-own-token, bob=bobs-very-own-token",
            "bobs-very-own-token",
        ),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "x-team=ours,authorization=Basic%20b3duOjlhSzN4dzdMcTA%3D",
            "b3duOjlhSzN4dzdMcTA=",
        ),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer own-9aK3xw7Lq0", "own-9aK3xw7Lq0"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=own%2F9aK3xw7Lq0", "own/9aK3xw7Lq0"),
        ("AUTHORIZATION", "Bearer own-9aK3xw7Lq0", "own-9aK3xw7Lq0"),
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
    "address", ["postgresql://ann:9aK3xw%2F7Lq0@db/x", "postgresql://db/x?user=ann&password=9aK3xw%2F7Lq0"]
)
def test_the_password_of_an_address_is_secret(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DATABASE_URL", address)
    assert "9aK3xw/7Lq0" not in redactor()("wrong password 9aK3xw/7Lq0 for ann")


@pytest.mark.parametrize(
    ("address", "secret", "rest"),
    [
        ("https://h/v1?x=1&api_key=9aK3xw7Lq0", "9aK3xw7Lq0", "https://h/v1?x=1"),
        ("https://h/v1?tavilyApiKey=9aK3xw7Lq0%2Fkey", "9aK3xw7Lq0/key", "https://h/v1"),
        ("https://h/v1?access-token=a+9aK3xw7Lq0", "a 9aK3xw7Lq0", "https://h/v1"),
        ("https://h/v1?key=9aK3xw7Lq0#top", "9aK3xw7Lq0", "https://h/v1#top"),
        ("https://h/v1?sig=9aK3xw7Lq0", "9aK3xw7Lq0", "https://h/v1"),
        ("https://sk-only0a1token2@h/v1", "sk-only0a1token2", "https://h/v1"),
        ("https://ann:9aK3xw7Lq0%2f1@h/v1", "9aK3xw7Lq0%2f1", "https://h/v1"),
        ("redis://:9aK3xw7Lq0-1@h/1", "9aK3xw7Lq0-1", "redis://h/1"),
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
        "https://h/v1?project=frontend2024a&deployment=gpt4turbo2024&since=20240307T120000Z",
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
    monkeypatch.setenv("HTTPS_PROXY", "http://developer:9aK3xw7Lq0Zt@proxy:3128")
    assert redactor()("developer, 9aK3xw7Lq0Zt") == "developer, [secret]"


@pytest.mark.parametrize(
    "text",
    [
        "3f786850e387550fdab836ed7e6dc881", "749e9723-a8f1-4b6e-9d44-446655440000", "AKIAIOSFODNN7EXAMPLE",
        "deadbeefdeadbeefdeadbeefdeadbeef", "sk-proj-frontend2024", "ghp_turbo2024turbo",
        "tvly-dev-turbo2024turbo", JWT, PEM, "Bearer sk-9aK3xw7Lq0ZtB5vRmN2c", "Tr0ub4dor&3",
    ],
)  # fmt: skip
def test_a_key_is_known_by_its_shape(text: str) -> None:
    assert is_strong(text)


@pytest.mark.parametrize(
    "text",
    [
        "gpt4turbo2024",
        "20240307T120000Z",
        "1234567890123456",
        "ModuleNotFoundError",
        "claude-3-5-sonnet-20241022-v2",
    ],
)
def test_a_name_or_a_date_is_no_key(text: str) -> None:
    assert not is_strong(text)


def test_an_error_and_its_causes_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", KEY)
    error = RuntimeError(f"outer {KEY}")
    error.__cause__ = ValueError(f"inner {KEY}", 5)
    redact_error(error, redactor())
    assert (str(error), error.__cause__.args) == ("outer [secret]", ("inner [secret]", 5))


ORDINARY = [
    "postgres",
    "subtasks",
    "password123",
    "hunterhunter",
    "my-database",
    "Summer2024!",
    "correct horse",
]


@pytest.mark.parametrize("word", ORDINARY)
@pytest.mark.parametrize(
    "variable",
    [
        "POSTGRES_PASSWORD={}", "SOME_TOKEN={}", "FORETHOUGHT_API_KEY={}", "LICENCE={}",
        "DATABASE_URL=postgresql://{}:{}@db/x", "FORETHOUGHT_DB=postgresql://{}:{}@db/x",
        "STORE=Server=db;User ID=ann;Password={}", "SLACK_WEBHOOK=https://{}/{}/{}",
    ],
)  # fmt: skip
def test_ordinary_words_are_never_redacted(monkeypatch: pytest.MonkeyPatch, variable: str, word: str) -> None:
    name, _, value = variable.partition("=")
    monkeypatch.setenv("FORETHOUGHT_SECRETS", "LICENCE, OTHER")
    monkeypatch.setenv(name, value.replace("{}", quote(word) if "://" in value else word))
    said = f"{word} is our database; {word}s, '{word}' and {{\"{word}\": 1}}"
    assert redactor()(said) == said
    register_secrets([word])
    assert redactor()(said) == said
    assert (name in weak_secrets()) is (name != "SLACK_WEBHOOK")


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("SESSION", JWT, JWT),
        ("SIGNED_BY", PEM, PEM),
        ("SIGNED_BY", PEM, "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"),
        ("SIGNED_BY", PEM.replace("\n", "\\n"), "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"),
        ("ACCOUNT", "ghp_9aK3xw7Lq0ZtB5vRmN2c9aK3xw7Lq0ZtB5vR", "ghp_9aK3xw7Lq0ZtB5vRmN2c9aK3xw7Lq0ZtB5vR"),
        ("ALERTS", f"https://hooks.slack.com/services/T00000000/B00000000/{KEY}", KEY),
        ("ALERTS", f"https://hooks.slack.com/services/T00000000/B00000000/{'X' * 24}", "X" * 24),
        ("TEAM_WEBHOOK", f"https://example.org/in/{KEY}?wait=true", KEY),
        (
            "STORE",
            f"DefaultEndpointsProtocol=https;AccountName=ann;AccountKey={KEY}+a/b==;EndpointSuffix=x",
            f"{KEY}+a/b==",
        ),
        ("STORE", f'Server=tcp:db,1433;User ID=ann;Password="{KEY}";Encrypt=True', KEY),
        ("STORE", f"host=db user=ann password={KEY}", KEY),
        ("STORE", json.dumps({"user": "ann", "password": KEY}), KEY),
        ("CREDENTIALS", json.dumps({"id": "ann", "private": KEY}, separators=(",", ":")), KEY),
        ("STORE", f"Endpoint=sb://h/;SharedAccessKeyName=root;SharedAccessKey={KEY}=", f"{KEY}="),
        ("LICENCE", "correct horse battery staple", "correct horse battery staple"),
        ("FORETHOUGHT_API_KEY", "correct-horse-battery", "correct-horse-battery"),
        ("SHOP_API_KEY", "correct-horse-battery", "correct-horse-battery"),
        ("PGPASSWORD", "correct-horse-battery", "correct-horse-battery"),
    ],
)
def test_secrets_under_names_of_their_own(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: str
) -> None:
    monkeypatch.setenv("FORETHOUGHT_SECRETS", "OTHER,LICENCE")
    monkeypatch.setenv(name, value)
    assert redactor()(f"refused: {secret}.") == "refused: [secret]."
    assert name not in weak_secrets()


def test_the_path_of_a_file_is_no_secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "project-9f3a1b7c2d4e.json"
    file.touch()
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    assert redactor()(f"see {file}") == f"see {file}"
    assert "GOOGLE_APPLICATION_CREDENTIALS" not in weak_secrets()


def test_the_names_that_forethought_secrets_lists_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_SECRETS", "OUR_SHOPS_LICENCE_OF_2024")
    assert redactor()("set OUR_SHOPS_LICENCE_OF_2024") == "set OUR_SHOPS_LICENCE_OF_2024"


def test_random_keys_have_the_shape_of_one() -> None:
    drawn = random.Random(7)
    signs = string.ascii_letters + string.digits
    keys = []
    for _ in range(300):
        data = drawn.randbytes(24)
        keys += [data[:16].hex(), base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()]
        keys += ["".join(drawn.choices(signs, k=20)), str(uuid.UUID(int=drawn.getrandbits(128)))]
    assert sum(map(is_strong, keys)) >= 0.99 * len(keys)


def test_no_word_of_the_documents_and_the_code_has_it() -> None:
    root = Path(__file__).parents[2]
    files = [
        root / "README.md",
        *root.glob("docs/**/*.md"),
        *root.glob("nodes/**/*.py"),
        *root.glob("prompts/*.md"),
    ]
    known = r"react-[0-9a-f]{16}|HumanInTheLoopMiddleware"  # ids of runs, and a name of LangChain's
    text = re.sub(known, "", "".join(file.read_text() for file in files))
    words = set(re.findall(r"[\w./-]{8,}", text))
    assert len(words) > 3000
    assert [word for word in words if is_strong(word)] == []


def test_a_long_variable_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONG", "a" * 100_000)
    began = time.perf_counter()
    assert redactor()("a") == "a"
    assert time.perf_counter() - began < 2
