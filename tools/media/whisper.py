"""Speech as text on this machine, with openai-whisper (the extra `audio`)."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import Any

from forethought.settings import Settings
from forethought.text import one_line
from forethought.tools.base import ToolError
from forethought.tools.media.sound import RATE, Segment, Sound, Transcript

INSTALL = "pip install 'forethought[audio]'"

_lock = threading.Lock()
_loaded: dict[str, Any] = {}
"""The last model used, by its name: loading takes seconds and memory."""


def whisper_lacks(settings: Settings) -> str:
    """What keeps whisper from being used; '' if nothing does."""
    there = importlib.util.find_spec("whisper") is not None
    return "" if there else f"openai-whisper is not installed: {INSTALL}"


def transcribe_here(sound: Sound, settings: Settings) -> Transcript:
    """The transcript of a sound. Blocking, one at a time: a model keeps what it is just doing in itself.

    Raises ToolError: what `Sound.samples` raises, or the weights are missing.
    """
    name, samples = settings.whisper_model, sound.samples()
    with _lock:
        model = _model(name)
        half = str(getattr(model, "device", "cpu")).startswith("cuda")
        result: dict[str, Any] = model.transcribe(samples, fp16=half, verbose=None)
    seconds = len(samples) / RATE
    # It hears in windows of 30 seconds, and may give times beyond the end of the last one's sound.
    segments = tuple(
        Segment(min(float(item["start"]), seconds), min(float(item["end"]), seconds), str(item["text"]))
        for item in result["segments"]
    )
    shown = Path(name).name.removesuffix(".pt")
    return Transcript(segments, seconds, str(result.get("language") or ""), f"whisper ({shown})")


def _model(name: str) -> Any:
    if name not in _loaded:
        try:
            import whisper

            model = whisper.load_model(name)
        # No network, a broken checkpoint or installation: urllib, torch, pickle and zipfile report it, each
        # in its own way.
        except Exception as error:
            raise ToolError(
                f"the weights of whisper model {name} cannot be used: {one_line(error, 200)}",
                cause="unavailable",
                hint="The operator sets FORETHOUGHT_WHISPER_MODEL to the path of a checkpoint, or lets the "
                "machine download one once.",
            ) from error
        _loaded.clear()
        _loaded[name] = model
    return _loaded[name]
