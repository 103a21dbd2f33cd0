"""Speech as text through a transcription endpoint: OpenAI's, or the one at `Settings.base_url`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from forethought.models import providers
from forethought.models.retry import final
from forethought.models.types import ConfigurationError
from forethought.settings import Settings

LARGEST_UPLOAD = 25_000_000
"""Bytes that the endpoint takes (https://platform.openai.com/docs/guides/speech-to-text)."""
_RETRIES = 2


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


def endpoint_lacks(settings: Settings) -> str:
    """What keeps the endpoint from being used; '' if nothing does.

    A base URL needs a key of its own (any, where the server checks none): only that tells that it is meant to
    get more than the chat.
    """
    if settings.base_url:
        return "" if settings.api_key else "FORETHOUGHT_API_KEY, the base URL's own key, is not set"
    return "" if os.environ.get("OPENAI_API_KEY") else "OPENAI_API_KEY is not set"


def transcribe_online(data: bytes, kind: str, settings: Settings) -> Transcript:
    """The transcript of a sound file of `kind` (mp3, wav, ...). Blocking.

    Raises TransportError when the retries are used up, ConfigurationError.
    """
    if lacks := endpoint_lacks(settings):
        raise ConfigurationError(f"the transcription endpoint cannot be used: {lacks}")
    import openai

    model = settings.transcription_model
    options: dict[str, Any] = {"max_retries": _RETRIES, "timeout": settings.request_timeout_s}
    try:
        with openai.OpenAI(**options, **providers.account(settings)) as client:
            got = client.audio.transcriptions.create(
                model=model,
                # A neutral name: that of the file is the user's business.
                file=(f"sound.{kind}", data),
                response_format="verbose_json",
                timestamp_granularities=["segment"],
            )
        segments = tuple(
            Segment(float(item.start), float(item.end), str(item.text)) for item in got.segments or ()
        )
        seconds = float(got.duration or 0) or max((item.end for item in segments), default=0.0)
        if not segments and got.text:  # a server that tells no times
            segments = (Segment(0.0, seconds, str(got.text)),)
        return Transcript(segments, seconds, str(got.language or ""), f"the model {model}")
    except Exception as error:
        known = final(error, model, _RETRIES + 1)
        if known is None:
            raise
        raise known from error
