"""doctor on inspect_image and inspect_audio: ready, or what is missing by name."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.doctor.tools import tool_checks
from forethought.settings import Settings
from forethought.tools.media.whisper import weights

Make = Callable[..., Settings]


def said(settings: Settings, tool: str) -> tuple[bool, str]:
    (check,) = [check for check in tool_checks(settings) if check.name == f"tool {tool}"]
    return check.ok, check.detail


@pytest.fixture
def whisper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if openai-whisper and ffmpeg were installed."""
    module = types.ModuleType("whisper")
    module.__spec__ = importlib.machinery.ModuleSpec("whisper", None)
    monkeypatch.setitem(sys.modules, "whisper", module)
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_pictures_are_ready_with_pillow_and_not_without(
    settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(settings(), "inspect_image")[0]
    monkeypatch.setitem(sys.modules, "PIL", None)
    ok, detail = said(settings(), "inspect_image")
    assert (ok, "pip install pillow" in detail) == (False, True)


def test_sound_without_a_transcriber(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "whisper", None)
    ok, detail = said(settings(), "inspect_audio")
    assert not ok
    assert "pip install 'forethought[audio]'" in detail
    assert "OPENAI_API_KEY is not set" in detail


def test_sound_with_the_endpoint(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "whisper", None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    assert said(settings(), "inspect_audio") == (True, "ready: the transcription endpoint's whisper-1")


@pytest.mark.usefixtures("whisper")
def test_sound_with_whisper_needs_its_weights_and_ffmpeg(
    settings: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok, detail = said(settings(), "inspect_audio")
    assert (ok, str(weights("base")) in detail, "FORETHOUGHT_WHISPER_MODEL" in detail) == (False, True, True)
    weights("base").parent.mkdir(parents=True)
    weights("base").touch()
    assert said(settings(), "inspect_audio") == (True, "ready: whisper (base) on this machine")
    monkeypatch.setenv("PATH", str(tmp_path))
    ok, detail = said(settings(), "inspect_audio")
    assert (ok, detail.startswith("lacks ffmpeg")) == (False, True)


@pytest.mark.parametrize(
    ("model", "file"),
    [("base", "base.pt"), ("large", "large-v3.pt"), ("turbo", "large-v3-turbo.pt"), ("/a/b.pt", "b.pt")],
)
def test_where_weights_are(model: str, file: str) -> None:
    assert weights(model).name == file


def test_the_names_of_weights_are_whispers_own() -> None:
    whisper: Any = pytest.importorskip(
        "whisper", reason="needs openai-whisper: pip install 'forethought[audio]'"
    )
    assert {name: weights(name).name for name in whisper._MODELS} == {
        name: url.rsplit("/", 1)[-1] for name, url in whisper._MODELS.items()
    }
