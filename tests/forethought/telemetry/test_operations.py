"""Operations tell how they ended, to spans and to the log, and never what was said."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from forethought.telemetry import operation


@pytest.mark.parametrize(
    ("raised", "outcome", "status"),
    [
        (None, "ok", "UNSET"),
        (ValueError("a secret text"), "error", "ERROR"),
        (GraphInterrupt(()), "interrupted", "UNSET"),
        (asyncio.CancelledError(), "cancelled", "UNSET"),
    ],
    ids=["ok", "error", "interrupt", "cancel"],
)
def test_how_it_ended(
    spans: Any, caplog: pytest.LogCaptureFixture, raised: BaseException | None, outcome: str, status: str
) -> None:
    caplog.set_level(logging.INFO, "forethought.run")
    with pytest.raises(type(raised)) if raised else nullcontext(), operation("node", "planner"):
        if raised is not None:
            raise raised
    (span,) = spans()
    assert (span.name, span.attributes["forethought.outcome"], span.status.status_code.name) == (
        "planner",
        outcome,
        status,
    )
    assert span.events == ()
    assert f"node planner: {outcome}" in caplog.text
    assert "a secret text" not in caplog.text + str(dict(span.attributes)) + str(span.status.description)


def test_a_failed_call_is_a_failed_span_but_no_warning(spans: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "forethought.run")
    with operation("execute_tool", "lookup", gen_ai__tool__name="lookup", forethought__n=None) as done:
        done.failed("timeout")
    (span,) = spans()
    assert span.name == "execute_tool lookup"
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup",
        "forethought.outcome": "failed",
        "error.type": "timeout",
    }
    assert [record.levelname for record in caplog.records] == ["INFO"]


def test_a_span_holds_no_secret(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come from models and clients: a tool's, an error's, a model's."""
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-value")
    secret = "sk-very-secret-value"
    with operation("execute_tool", secret, gen_ai__tool__name=secret) as done:
        done.failed(f"no {secret}")
    (span,) = spans()
    assert span.name == "execute_tool [secret]"
    assert span.attributes["gen_ai.tool.name"] == "[secret]"
    assert span.attributes["error.type"] == "no [secret]"
    assert span.status.description == "no [secret]"
