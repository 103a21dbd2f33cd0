"""How flags, the thread and the environment make Settings and Context."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.app.command_flags import Flags
from forethought.app.options import check_repeated, context_of, settings_from
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
        context = context_of(Context, Flags(sets=[item]), Settings())
        assert getattr(context, item.partition("=")[0].strip()) == value, item


def test_flags_win_over_the_thread_and_both_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:environment")
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", "http://environment/v1")
    context: dict[str, Any] = {"model": "openai:thread", "max_steps": 5}
    assert settings_from(Flags()).base_url == "http://environment/v1"
    assert settings_from(Flags(base_url="http://flag/v1")).base_url == "http://flag/v1"
    assert context_of(Context, Flags(), Settings()).model == "openai:environment"
    assert context_of(Context, Flags(), Settings(), context).model == "openai:thread"
    changed = context_of(Context, Flags(model="openai:flag", sets=["max_steps=6"]), Settings(), context)
    assert (changed.model, changed.max_steps) == ("openai:flag", 6)


def test_the_environments_password_and_key_are_used_again_for_the_threads_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", "https://me:secret@host:8000/v1?x=1&api_key=of-mine")
    check_repeated("thread t", Flags(), settings_from(Flags()), base_url="https://host:8000/v1?x=1")
