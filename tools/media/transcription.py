"""A stored sound file as a transcript: made once, by whichever way is set up, and kept.

Whisper hears on this machine (openai-whisper, the extra `audio`), else a transcription endpoint: OpenAI's, or
the one at `Settings.base_url`.
"""

from __future__ import annotations

import asyncio
import importlib.util
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.extras import install_command
from forethought.models import providers
from forethought.models.errors import model_error
from forethought.models.pricing import price
from forethought.models.types import ConfigurationError, TransportError, Usage
from forethought.settings import Settings
from forethought.text import one_line
from forethought.tools.base import ToolError
from forethought.tools.files import FileStore
from forethought.tools.given_files import not_of_kind, stored_bytes
from forethought.tools.kinds import SOUNDS, sound_kind
from forethought.tools.media.sound import RATE, Segment, Sound, Transcript, ffmpeg_lacks
from forethought.tools.threads import SharedWork

if TYPE_CHECKING:
    from openai.types.audio import TranscriptionVerbose


_lock = threading.Lock()
_loaded: dict[str, Any] = {}
"""The last model used, by its name: loading takes seconds and memory."""


def whisper_lacks(settings: Settings) -> str:
    """What keeps whisper from being used; '' if nothing does."""
    there = importlib.util.find_spec("whisper") is not None
    return "" if there else f"openai-whisper is not installed: {install_command('audio')}"


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


LONGEST_S = 1200.0
_WAYS = {"whisper": (whisper_lacks, transcribe_here), "openai": (endpoint_lacks, transcribe_online)}
"""Each way's check for what is missing, and its transcriber; the preferred way first."""
_transcripts: SharedWork[Transcript] = SharedWork(16)


def chosen_way(settings: Settings) -> str:
    """The first way that is selected and available. Raises ToolError, which says what is missing."""
    names = [name for name in _WAYS if settings.transcription in ("auto", name)]
    lacks = {name: ffmpeg_lacks() or _WAYS[name][0](settings) for name in names}
    for name, missing in lacks.items():
        if not missing:
            return name
    why = "; OpenAI's endpoint cannot be used either: ".join(dict.fromkeys(lacks.values()))
    raise ToolError(f"sound cannot be transcribed here: {why}", cause="unavailable", hint=NO_SOUND)


async def load_transcript(
    store: FileStore, content_hash: str, name: str, settings: Settings, seconds: float = LONGEST_S
) -> Transcript:
    """The transcript of a stored file; concurrent calls for one file share one hearing.

    Raises ToolError when there is none, or not within `seconds`. The hearing itself cannot be stopped: it
    goes on in its thread, and a later call gets what it makes.
    """
    chosen = (settings.transcription, settings.whisper_model, settings.transcription_model, settings.base_url)
    key = (store, content_hash, *chosen, settings.max_audio_minutes)
    work = _transcripts.start(key, lambda: transcribe(store, content_hash, name, settings))
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(work)
    except TimeoutError as error:
        raise ToolError(
            f"{name} is not transcribed yet after {seconds:g} seconds",
            cause="timeout",
            hint="The transcription continues: repeat the call later, or ask the user for a shorter file.",
            retryable=True,
        ) from error


def transcribe(store: FileStore, content_hash: str, name: str, settings: Settings) -> Transcript:
    """The transcript, from the first transcriber that has what it needs. Blocking. Raises ToolError."""
    data = stored_bytes(store, content_hash, name)
    if not (kind := sound_kind(data)):
        use = "Use read_file for documents and inspect_image for pictures."
        raise not_of_kind(data, name, f"sound that can be listened to (supported: {SOUNDS})", use)
    sound = Sound(data, kind, name, settings.max_audio_minutes * 60)
    return _WAYS[chosen_way(settings)][1](sound, settings)
