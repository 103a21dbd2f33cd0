"""How flags, the thread and the environment make Settings and Context."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.app.command_flags import Flags
from forethought.app.errors import CliError
from forethought.app.options import check_repeated, context_of, settings_from
from forethought.graph.resume import run_metadata, run_options
from forethought.settings import Settings
from forethought.state.context import Context

VALUES = [
    ("max_steps=7", 7),
    ("max_tokens=none", None),
    ("max_usd=0.5", 0.5),
    ("replanning=false", False),
    ("replanning=True", True),
    ("forced_replans=3, 8", (3, 8)),
    ("forced_replans=[3,8]", (3, 8)),
    ("forced_replans=none", ()),
    ("forced_replans=", ()),
    ("foresight=off", "off"),
    ("answer_format=a number = only", "a number = only"),
    ("answer_format=7", "7"),
    ("planner_model=none", None),
    ("planner_model=openai:o3", "openai:o3"),
    (" max_rounds = 2 ", 2),
]


def test_values_of_set_are_read_as_their_settings_say() -> None:
    for item, value in VALUES:
        context = context_of(Context, Flags(sets=(item,)), Settings())
        assert getattr(context, item.partition("=")[0].strip()) == value, item


def test_flags_win_over_the_environment_and_what_a_thread_was_run_with_decides_on_no_address_and_no_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:environment")
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", "http://environment/v1")
    saved: dict[str, Any] = {"base_url": "http://thread/v1", "tools": "thread_tools"}
    flags = Flags(base_url="http://flag/v1", tools="flag_tools")
    context: dict[str, Any] = {"model": "openai:thread", "max_steps": 5}

    assert settings_from(Flags()).base_url == "http://environment/v1"
    assert settings_from(flags).base_url == "http://flag/v1"
    check_repeated("thread t", flags, settings_from(flags), **saved)
    for name, value in saved.items():
        with pytest.raises(CliError, match=f"thread t was run with --{name.replace('_', '-')} {value}"):
            check_repeated("thread t", Flags(), settings_from(Flags()), **{name: value})
    assert context_of(Context, Flags(), Settings()).model == "openai:environment"
    assert context_of(Context, Flags(), Settings(), context).model == "openai:thread"
    changed = context_of(Context, Flags(model="openai:flag", sets=("max_steps=6",)), Settings(), context)
    assert (changed.model, changed.max_steps) == ("openai:flag", 6)


def test_the_environments_password_and_key_are_used_again_for_the_threads_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = "https://me:secret@host:8000/v1?x=1&api_key=of-mine"
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", address)
    saved = run_options(run_metadata(Context(), Settings()))
    assert saved.base_url == "https://host:8000/v1?x=1"
    check_repeated("thread t", Flags(), settings_from(Flags()), base_url=saved.base_url)


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_is_set_is_a_context_or_one_clear_line(key: str, value: str) -> None:
    known = list(Context.model_fields)
    for name in (key, known[len(value) % len(known)]):
        line = "--set"
        try:
            context_of(Context, Flags(sets=(f"{name}={value}",)), Settings())
        except CliError as error:
            line = error.line
        assert line.startswith("--set")
        assert "\n" not in line
