from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any, Literal

import httpx
import pytest
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from pydantic import SecretStr

from forethought.settings import Settings
from forethought.sizes import LONGEST_OBSERVATION as MOST
from forethought.tools.base import Observation, Tool, ToolEnv, ToolError, make_tool
from forethought.tools.call import call_tool, check_arguments, normalise


@pytest.fixture
def env(settings: Callable[..., Settings]) -> ToolEnv:
    return ToolEnv(settings=settings())


def tool_that(act: Callable[[], Any], **options: Any) -> Tool:
    async def act_now() -> str:
        """Do as the test says."""
        result = act()
        return await result if asyncio.iscoroutine(result) else result

    return make_tool(act_now, **options)


def raising(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


async def lookup(name: str, year: int | None = None, kind: Literal["staff", "guest"] = "staff") -> str:
    """Look a person up.

    Args:
        name: Full name.
        year: Only this year.
        kind: Which register.
    """
    return f"{name} {year} {kind}"


LOOKUP = make_tool(lookup)


async def test_success_has_text_and_an_origin(env: ToolEnv) -> None:
    seen = await call_tool(LOOKUP, {"name": "Ada", "year": "1843"}, env)
    assert seen == Observation("Ada 1843 staff", origin="tool:lookup")
    seen = await call_tool(tool_that(lambda: Observation("hi", origin="web:example.org")), {}, env)
    assert (seen.ok, seen.origin) == (True, "web:example.org")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, ["name is missing"]),
        ({"name": 3, "year": "soon", "yeer": 1}, ["name: ", "year: ", "yeer is not an argument"]),
        ({"name": "Ada", "kind": "ghost"}, ["kind: ", "'staff' or 'guest'"]),
    ],
)
async def test_wrong_arguments_are_listed_in_one_line(
    env: ToolEnv, arguments: dict[str, Any], said: list[str]
) -> None:
    seen = await call_tool(LOOKUP, arguments, env)
    assert (seen.ok, seen.cause, seen.origin) == (False, "arguments", "tool:lookup")
    assert all(part in seen.text for part in said)
    assert "\n" not in seen.text
    assert "http" not in seen.text
    assert seen.hint == "lookup takes name, year (optional), kind (optional)"
    checked = check_arguments(LOOKUP, arguments)
    assert checked is not None
    assert seen.text in checked


async def test_a_tool_error_keeps_its_cause_and_hint(env: ToolEnv) -> None:
    error = ToolError("no such file", cause="not_found", hint="use a given name")
    seen = await call_tool(tool_that(raising(error)), {}, env)
    expected = Observation("no such file", False, "not_found", "use a given name", "tool:act_now")
    assert seen == expected


@pytest.mark.parametrize(
    ("error", "declared", "calls"),
    [
        (ToolError("line down", cause="transport", retryable=True), True, 2),
        (ToolError("line down", cause="transport", retryable=True), False, 1),
        (ToolError("busy: wait", cause="transport"), True, 1),
        (ToolError("too slow", cause="timeout", retryable=True), True, 1),
    ],
)
async def test_a_transport_failure_of_a_retryable_tool_is_retried_once(
    env: ToolEnv, monkeypatch: pytest.MonkeyPatch, error: ToolError, declared: bool, calls: int
) -> None:
    monkeypatch.setattr("forethought.tools.call.PAUSE_S", 0)
    made: list[int] = []

    def fail_once() -> str:
        made.append(1)
        if len(made) == 1:
            raise error
        return "there"

    seen = await call_tool(tool_that(fail_once, retryable=declared), {}, env)
    assert (len(made), seen.ok) == (calls, calls == 2)


def wrapped(inner: Exception) -> Exception:
    try:
        raise RuntimeError("the shop's client") from inner
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    "error",
    [
        ToolError("line down", cause="transport", hint="wait a little", retryable=True),
        ConnectionResetError(104, "Connection reset by peer"),
        wrapped(httpx.ReadTimeout("")),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("options", "unknown"),
    [
        ({"effect": "write", "retryable": True}, True),
        ({"effect": "egress"}, True),
        ({"effect": "egress", "retryable": True}, False),
        ({"effect": "read"}, False),
    ],
    ids=["write", "egress", "retryable-egress", "read"],
)
async def test_a_change_with_an_unknown_outcome_is_marked_and_not_retried(
    env: ToolEnv, monkeypatch: pytest.MonkeyPatch, error: Exception, options: Any, unknown: bool
) -> None:
    monkeypatch.setattr("forethought.tools.call.PAUSE_S", 0)
    made: list[int] = []

    def act() -> str:
        made.append(1)
        raise error

    seen = await call_tool(tool_that(act, **options), {}, env)
    assert not seen.ok
    assert seen.text.startswith("It may have taken effect: ") is unknown
    assert ("check whether it took effect" in seen.hint) is unknown
    assert "wait a little" in seen.hint or not getattr(error, "hint", "")
    if unknown:
        assert (len(made), seen.retryable) == (1, False)


async def test_a_change_that_times_out_or_returns_such_a_failure_has_an_unknown_outcome(env: ToolEnv) -> None:
    slow = tool_that(lambda: asyncio.sleep(30), effect="write", timeout_s=0.05)
    seen = await call_tool(slow, {}, env)
    assert (seen.cause, seen.retryable) == ("timeout", False)
    assert seen.text == "It may have taken effect: act_now did not finish within 0.05 s"
    returned = Observation(" ", ok=False, cause="transport")
    seen = await call_tool(tool_that(lambda: returned, effect="write"), {}, env)
    assert seen.text == "It may have taken effect: act_now failed without a message"


@pytest.mark.parametrize("error", [ToolError("sold out"), ValueError("no date")], ids=repr)
async def test_a_change_that_was_refused_has_a_known_outcome(env: ToolEnv, error: Exception) -> None:
    seen = await call_tool(tool_that(raising(error), effect="write"), {}, env)
    assert "taken effect" not in seen.text + seen.hint


async def test_an_unexpected_exception_is_one_line_and_its_place_is_logged(
    env: ToolEnv, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        seen = await call_tool(tool_that(raising(KeyError("a\nb"))), {}, env)
    assert (seen.ok, seen.cause) == (False, "tool")
    assert seen.text.startswith("KeyError: ")
    assert "\n" not in seen.text
    (record,) = caplog.records
    assert re.fullmatch(r"tool act_now failed: KeyError: .* \(.*test_call\.py:\d+ .*\)", record.getMessage())


async def test_a_slow_tool_is_stopped(env: ToolEnv) -> None:
    stopped = []

    async def wait() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.append(True)
            raise
        return "late"

    seen = await call_tool(tool_that(wait, timeout_s=0.05, retryable=True), {}, env)
    assert (seen.ok, seen.cause, seen.retryable) == (False, "timeout", True)
    assert "0.05 s" in seen.text
    assert stopped


@pytest.mark.parametrize("error", [GraphInterrupt(()), GraphBubbleUp(), KeyboardInterrupt()])
async def test_interrupts_pass_through(env: ToolEnv, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught:
        await call_tool(tool_that(raising(error)), {}, env)
    assert caught.value is error


async def test_cancellation_from_outside_passes_through(env: ToolEnv) -> None:
    task = asyncio.create_task(call_tool(tool_that(lambda: asyncio.sleep(30)), {}, env))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class Panic(BaseException):
    """As libraries in Rust raise it: no Exception."""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Panic("index out of bounds"), "Panic: index out of bounds"),
        (asyncio.CancelledError(), "CancelledError:"),
        (SystemExit(2), "SystemExit: 2"),
        (TimeoutError("the printer"), "TimeoutError: the printer"),
    ],
)
async def test_no_exception_of_a_tool_ends_the_run(env: ToolEnv, error: BaseException, said: str) -> None:
    seen = await call_tool(tool_that(raising(error)), {}, env)
    assert (seen.ok, seen.cause) == (False, "tool")
    assert said in seen.text


@pytest.mark.parametrize("nothing", [" \n\t", None])
async def test_no_text_is_a_failure(env: ToolEnv, nothing: str | None) -> None:
    seen = await call_tool(tool_that(lambda: nothing), {}, env)
    assert (seen.ok, seen.cause) == (False, "empty")
    assert seen.text == "act_now returned nothing"


async def test_a_long_text_is_cut_with_a_mark(env: ToolEnv) -> None:
    exact = await call_tool(tool_that(lambda: "x" * MOST), {}, env)
    assert (exact.text, exact.partial) == ("x" * MOST, False)
    printed = "\n".join([f"row {n:06}" for n in range(3_000)] + ["total: 42"])
    seen = await call_tool(tool_that(lambda: printed), {}, env)
    assert seen.text.startswith("row 000000\n")
    assert seen.text.endswith("row 002999\ntotal: 42"), "a program prints its summary at the end"
    shown = seen.text.splitlines()
    assert (
        f"[... {3_002 - len(shown)} lines, {11 * (3_002 - len(shown)) - 1} characters left out ...]" in shown
    )
    assert set(shown) - {f"row {n:06}" for n in range(3_000)} == {shown[-1], shown[1_363]}, "no half row"
    assert seen.partial


@pytest.mark.parametrize(
    ("result", "text"),
    [({"é": [1, None]}, '{"é": [1, null]}'), ("a\x00b\ud800c", "ab?c")],
)
async def test_other_results_become_text_that_can_be_stored(env: ToolEnv, result: Any, text: str) -> None:
    assert (await call_tool(tool_that(lambda: result), {}, env)).text == text


async def test_keys_are_redacted(settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    monkeypatch.setenv("GH_TOKEN", "sk-0123456789-longer")
    env = ToolEnv(settings=settings(api_key=SecretStr("of-the-settings-9aK3xw7Lq0")))
    error = ToolError("sk-0123456789-longer", hint="see sk-0123456789 and of-the-settings-9aK3xw7Lq0")
    seen = await call_tool(tool_that(raising(error)), {}, env)
    assert seen.text == "[secret]"
    assert seen.hint == "see [secret] and [secret]"
    leaked = await call_tool(tool_that(raising(RuntimeError("401 for sk-0123456789"))), {}, env)
    assert leaked.text == "RuntimeError: 401 for [secret]"
    seen = await call_tool(tool_that(lambda: "x" * (MOST - 5) + "sk-0123456789"), {}, env)
    assert "sk-" not in seen.text, "not even in part, at the cut"


def test_two_spellings_of_a_call_are_normalised_to_one() -> None:
    assert check_arguments(LOOKUP, {"name": "Ada"}) is None
    full = {"name": "Ada", "year": None, "kind": "staff"}
    assert normalise(LOOKUP, {"name": "Ada"}) == normalise(LOOKUP, {"year": None, "name": "Ada"}) == full
    assert normalise(LOOKUP, {"name": "Ada", "year": "3"}) == normalise(LOOKUP, {"name": "Ada", "year": 3})
    assert normalise(LOOKUP, {"name": "Ada"}) != normalise(LOOKUP, {"name": "Bea"})
    assert normalise(LOOKUP, {"nom": "Ada"}) == {"nom": "Ada"}


async def test_a_stop_iteration_does_not_hang_the_run(env: ToolEnv) -> None:
    """A StopIteration cannot leave a thread as it is: the caller would wait for ever."""

    def first(name: str) -> str:
        """The first item."""
        return next(iter(()))

    seen = await asyncio.wait_for(call_tool(make_tool(first, timeout_s=0), {"name": "x"}, env), 5)
    assert (seen.ok, seen.cause) == (False, "tool")
    assert "StopIteration" in seen.text
