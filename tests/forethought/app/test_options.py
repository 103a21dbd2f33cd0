"""How flags, the thread and the environment make Settings and Context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forethought.app.command_flags import Flags
from forethought.app.errors import CliError
from forethought.app.options import check_repeated, context_of, settings_from
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.model_server import ModelServer, script

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


def test_without_a_model_those_of_the_server_are_listed(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(script({}))
    made, flags = settings(server, model=None), Flags()
    assert context_of(Context, flags, made).model == Context().model, "which lists none may have any"
    server.models = ("qwen3:8b", "llama3")
    with pytest.raises(
        CliError,
        match=f"the server at {server.url} does not serve .* set the model to one of these: llama3, qwen3:8b",
    ) as raised:
        context_of(Context, flags, made)
    assert raised.value.code == 2
    assert context_of(Context, Flags(model="llama3"), made).model == "llama3"
    assert context_of(Context, flags, made, {"model": "openai:of-the-thread"}).model == "openai:of-the-thread"
    server.models = ("gpt-4.1", "other")
    assert context_of(Context, flags, made).model == "openai:gpt-4.1"
    server.models = ("qwen3:8b",)
    assert context_of(Context, flags, made).model == "openai:qwen3:8b", "the only one is used"


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
