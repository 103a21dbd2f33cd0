"""Speech as text through a transcription endpoint: OpenAI's, or the one at `Settings.base_url`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from forethought.models import providers
from forethought.models.errors import model_error
from forethought.models.pricing import price
from forethought.models.types import ConfigurationError, Usage
from forethought.settings import Settings

LARGEST_UPLOAD = 25_000_000
"""Bytes that the endpoint takes (https://platform.openai.com/docs/guides/speech-to-text)."""
_RETRIES = 2
_USD_A_MINUTE = {"whisper-1": 0.006}
"""Models of OpenAI that are paid by the length of the sound (https://platform.openai.com/docs/pricing)."""


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


def endpoint_lacks(settings: Settings) -> str:
    """What keeps the endpoint from being used; '' if nothing does.

    A base URL needs a key of its own (any, where the server checks none): only that tells that it is meant to
    get more than the chat.
    """
    if settings.base_url:
        return "" if settings.api_key else "FORETHOUGHT_API_KEY, the base URL's own key, is not set"
    try:
        return "" if providers.keys_set(["OPENAI_API_KEY"]) else "OPENAI_API_KEY is not set"
    except ConfigurationError as error:
        return str(error)


def transcribe_online(data: bytes, kind: str, settings: Settings) -> Transcript:
    """The transcript of a sound file of `kind` (mp3, wav, ...). Blocking.

    Raises TransportError when the retries are used up, ConfigurationError.
    """
    if lacks := endpoint_lacks(settings):
        raise ConfigurationError(f"the transcription endpoint cannot be used: {lacks}")
    import openai

    model, started = settings.transcription_model, time.monotonic()
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
        cost = _cost(getattr(got, "usage", None), seconds, settings, time.monotonic() - started)
        return Transcript(segments, seconds, str(got.language or ""), f"the model {model}", [cost])
    except Exception as error:
        known = model_error(error, model, _RETRIES + 1)
        if known is None:
            raise
        raise known from error


def _cost(told: Any, heard: float, settings: Settings, took: float) -> Usage:
    """What a transcription cost, by the minute or by the tokens that the endpoint tells of."""
    name = settings.transcription_model
    given, made = (int(getattr(told, f"{kind}_tokens", 0) or 0) for kind in ("input", "output"))
    usd: float | None = None
    if given or made:
        usd = price(name, "openai", settings.base_url, given, made, 0)
    elif name in _USD_A_MINUTE and not settings.base_url:
        usd = _USD_A_MINUTE[name] * heard / 60
    return Usage(
        calls=1, input_tokens=given, output_tokens=made, cached_tokens=0, usd=usd or 0.0,
        unpriced=int(usd is None), seconds=took,
    )  # fmt: skip
