"""What was said in a recording."""

from __future__ import annotations

from dataclasses import dataclass, field

from forethought.models.types import Usage


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
