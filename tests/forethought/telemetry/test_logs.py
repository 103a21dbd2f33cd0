"""Log lines hold no secret, and nothing that a message says makes a second line of them."""

from __future__ import annotations

import json
import logging
import math
import sys

import pytest

from forethought.telemetry.logs import JsonFormatter, ScrubbedFormatter

SECRET = 'pé"ssword-9aK3xw7Lq0'
TEXT = ScrubbedFormatter("%(levelname)s %(name)s: %(message)s")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", SECRET)


def record(message: str, error: BaseException | None = None) -> logging.LogRecord:
    if error is None:
        return logging.LogRecord("forethought", logging.ERROR, "", 1, message, (), None)
    try:
        raise error
    except type(error):
        return logging.LogRecord("forethought", logging.ERROR, "", 1, message, (), sys.exc_info())


def test_no_line_holds_a_secret() -> None:
    for made in (record(f"wrong: {SECRET}"), record("wrong", ValueError(f"it was {SECRET}"))):
        line = JsonFormatter().format(made)
        assert "ssword" not in line
        assert "[secret]" in str(json.loads(line))
        assert logging.Formatter().format(made), "another handler's formatter leaves its traceback behind"
        text = TEXT.format(made)
        assert "ssword" not in text
        assert "[secret]" in text


def test_a_line_stays_json_whatever_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    number = 1234567812345678
    for name, value in (
        ("FORETHOUGHT_API_KEY", f"{number}"),
        ("A_TOKEN", "9aK3xw7Lq0"),
        ("B_TOKEN", "null, null"),
    ):
        monkeypatch.setenv(name, value)
    made = record(f"9aK3xw7Lq0\n9aK3xw7Lq0 {number}")
    made.fields = {"n": number, "none": [None, None], "seconds": math.nan, "usd": math.inf}
    line = JsonFormatter().format(made)
    told = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert told["message"] == "[secret]\n[secret] [secret]"
    assert {name: told[name] for name in made.fields} == {
        "n": number, "none": [None, None], "seconds": None, "usd": None,
    }  # fmt: skip


def test_a_message_makes_no_second_line() -> None:
    forged = "tool evil\nERROR forethought: forged\r\x1b[2J\x85\u2028ERROR forged"
    assert TEXT.format(record(forged)).splitlines() == [
        r"ERROR forethought: tool evil\nERROR forethought: forged\r\u001b[2J\u0085\u2028ERROR forged"
    ]
    assert TEXT.format(record("plain words: ä, 日本")) == "ERROR forethought: plain words: ä, 日本"


def test_a_traceback_stays_readable_and_apart() -> None:
    error = ValueError("bad\nERROR forethought: forged\x1b[2J")
    first, *rest = TEXT.format(record("it broke", error)).splitlines()
    assert first == "ERROR forethought: it broke"
    assert all(line.startswith("    ") for line in rest)
    assert rest[0] == "    Traceback (most recent call last):"
    assert rest[-1] == r"    ERROR forethought: forged\u001b[2J"


@pytest.mark.parametrize("formatter", [TEXT, JsonFormatter()])
def test_no_line_holds_what_reorders_or_hides_text(formatter: logging.Formatter) -> None:
    line = formatter.format(record("pay \u202e001\u202c\u200b"))
    assert r"pay \u202e001\u202c\u200b" in line
