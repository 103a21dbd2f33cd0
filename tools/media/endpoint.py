"""Speech as text through a transcription endpoint: OpenAI's, or the one at `Settings.base_url`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from forethought.models import providers
from forethought.models.errors import model_error
from forethought.models.pricing import price
from forethought.models.types import ConfigurationError, TransportError, Usage
from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.media.sound import Segment, Sound, Transcript

if TYPE_CHECKING:
    from openai.types.audio import TranscriptionVerbose

NO_SOUND = "Go on without the recording, or ask the user what is said in it."
_RETRIES = 2
_USD_A_MINUTE = {"whisper-1": 0.006}
"""Models of OpenAI that are paid by the length of the sound (https://platform.openai.com/docs/pricing)."""


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


def transcribe_online(sound: Sound, settings: Settings) -> Transcript:
    """The endpoint's transcript of a sound, which is sent as a small mp3. Blocking. Raises ToolError."""
    data, started = sound.shrunk(), time.monotonic()
    try:
        reply = _reply(data, settings)
    except TransportError as error:
        raise ToolError(str(error), cause="transport", hint=NO_SOUND, retryable=True) from error
    except ConfigurationError as error:
        raise ToolError(str(error), cause="unavailable", hint=NO_SOUND) from error
    segments = tuple(
        Segment(float(item.start), float(item.end), str(item.text)) for item in reply.segments or ()
    )
    seconds = float(reply.duration or 0) or max((item.end for item in segments), default=0.0)
    if not segments and reply.text:  # a server that tells no times
        segments = (Segment(0.0, seconds, str(reply.text)),)
    usage = _usage(getattr(reply, "usage", None), seconds, settings, time.monotonic() - started)
    by = f"the model {settings.transcription_model}"
    return Transcript(segments, seconds, str(reply.language or ""), by, [usage])


def _reply(data: bytes, settings: Settings) -> TranscriptionVerbose:
    """Raises TransportError when the retries are used up, ConfigurationError."""
    import openai

    model = settings.transcription_model
    options: dict[str, Any] = {"max_retries": _RETRIES, "timeout": settings.request_timeout_s}
    try:
        with openai.OpenAI(**options, **providers.account(settings)) as client:
            return client.audio.transcriptions.create(
                model=model,
                # A neutral name: that of the file is the user's business.
                file=("sound.mp3", data),
                response_format="verbose_json",
                timestamp_granularities=["segment"],
            )
    except Exception as error:
        known = model_error(error, model, _RETRIES + 1)
        if known is None:
            raise
        raise known from error


def _usage(reported: Any, heard_s: float, settings: Settings, took_s: float) -> Usage:
    """What a transcription cost, by the minute or by the tokens that the endpoint reports."""
    name = settings.transcription_model
    sent, generated = (int(getattr(reported, f"{kind}_tokens", 0) or 0) for kind in ("input", "output"))
    usd: float | None = None
    if sent or generated:
        usd = price(name, "openai", settings.base_url, sent, generated, 0)
    elif name in _USD_A_MINUTE and not settings.base_url:
        usd = _USD_A_MINUTE[name] * heard_s / 60
    return Usage(
        calls=1, input_tokens=sent, output_tokens=generated, cached_tokens=0, usd=usd or 0.0,
        unpriced=int(usd is None), seconds=took_s,
    )  # fmt: skip
