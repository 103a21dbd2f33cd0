"""What was said in a recording, and what turns sound into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from forethought.models.types import Usage
from forethought.settings import Settings
from forethought.tools.media.sound import Sound


@dataclass(frozen=True)
class Segment:
    """A stretch of speech, in seconds from the beginning."""

    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Transcript:
    """What was said."""

    segments: tuple[Segment, ...]
    seconds: float
    """Length of the sound."""
    language: str = ""
    """As the transcriber named it: a code or a word."""
    by: str = ""
    """Who transcribed, in words."""
    unbooked: list[Usage] = field(default_factory=list, compare=False)
    """What the transcript cost, until whoever gets it first books it: it is kept and given again."""


@dataclass(frozen=True)
class Transcriber:
    """One way to a transcript."""

    name: str
    lacks: Callable[[Settings], str]
    """What keeps it from being used, in words; '' if nothing does."""
    transcribe: Callable[[Sound, Settings], Transcript]
    """Blocking. Raises ToolError."""
