"""A stored sound file as a transcript: heard once, by whichever transcriber is set up, and kept."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from concurrent.futures import Future

from forethought.models.transcription import (
    LARGEST_UPLOAD,
    Transcript,
    endpoint_lacks,
    transcribe_online,
)
from forethought.models.types import ConfigurationError, TransportError
from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.files import FilesError, FileStore
from forethought.tools.media.decode import check_length, decode, shrunk, wav_seconds
from forethought.tools.media.kinds import SOUNDS, sound_kind
from forethought.tools.media.local_whisper import transcribe_here, whisper_lacks

LONGEST_S = 1200.0
KEPT = 16
NO_SOUND = "Go on without the recording, or ask the user what is said in it."

_Key = tuple[FileStore, str, str]
_kept: OrderedDict[_Key, Future[Transcript]] = OrderedDict()
_lock = threading.Lock()


def transcribers(settings: Settings) -> list[str]:
    """The transcribers that are set up, the preferred one first: whisper, openai."""
    wanted = ("whisper", "openai") if settings.transcription == "auto" else (settings.transcription,)
    return [name for name in wanted if not _lacks(name, settings)]


def transcription_lacks(settings: Settings) -> str:
    """What keeps sound from being transcribed, in words; '' if nothing does."""
    if transcribers(settings):
        return ""
    if settings.transcription != "auto":
        return _lacks(settings.transcription, settings)
    return f"{whisper_lacks()}; or OpenAI's endpoint can be used, but {endpoint_lacks(settings)}"


async def load_transcript(
    store: FileStore, content_hash: str, name: str, settings: Settings, seconds: float = LONGEST_S
) -> Transcript:
    """The transcript of a stored file; concurrent calls for one file share one hearing.

    Raises ToolError when there is none, or not within `seconds`. The hearing itself cannot be stopped: it
    goes on in its thread, and a later call gets what it makes.
    """
    heard = asyncio.wrap_future(_hearing(store, content_hash, name, settings))
    try:
        async with asyncio.timeout(seconds):
            return await heard
    except TimeoutError as error:
        raise ToolError(
            f"{name} is not transcribed yet after {seconds:g} seconds",
            cause="timeout",
            hint="It goes on meanwhile: make the same call later, or ask the user for a shorter file.",
            retryable=True,
        ) from error
    except FilesError as error:
        raise ToolError(
            f"{name}: {error}", cause="not_found", hint="Ask the user for the file again."
        ) from error


def hear(store: FileStore, content_hash: str, name: str, settings: Settings) -> Transcript:
    """The transcript, from the first transcriber that has what it needs. Blocking. Raises ToolError,
    FilesError.
    """
    data = store.get(content_hash)
    if not data:
        raise ToolError(f"{name} is empty (0 bytes)", cause="empty", hint="Ask the user for the file again.")
    kind = sound_kind(data)
    if not kind:
        raise ToolError(
            f"{name} is not sound that can be listened to (supported: {SOUNDS})",
            cause="arguments",
            hint="Use read_file for documents and inspect_image for pictures.",
        )
    if lacks := transcription_lacks(settings):
        raise ToolError(f"sound cannot be transcribed here: {lacks}", cause="unavailable", hint=NO_SOUND)
    path, longest_s = store.path(content_hash), settings.max_audio_minutes * 60
    ready = transcribers(settings)
    for transcriber in ready:
        try:
            if transcriber == "openai":
                return _online(data, shrunk(path, kind, name, longest_s), kind, name, settings)
            return transcribe_here(decode(path, kind, name, longest_s), settings.whisper_model)
        except ToolError as error:
            if error.cause != "unavailable" or transcriber == ready[-1]:
                raise
    raise AssertionError("the last transcriber returns or raises")


def _lacks(transcriber: str, settings: Settings) -> str:
    return whisper_lacks() if transcriber == "whisper" else endpoint_lacks(settings)


def _online(data: bytes, small: bytes | None, kind: str, name: str, settings: Settings) -> Transcript:
    """The endpoint's transcript. Without ffmpeg the file goes as it is, and only a wav tells its length
    beforehand.
    """
    if small is None and kind == "wav" and (seconds := wav_seconds(data)) is not None:
        check_length(seconds, name, settings.max_audio_minutes * 60)
    sent, sent_kind = (data, kind) if small is None else (small, "mp3")
    if len(sent) > LARGEST_UPLOAD:
        raise ToolError(
            f"{name} is too large for the transcription endpoint ({LARGEST_UPLOAD // 1_000_000} MB)",
            cause="limit",
            hint="Ask the user for the part that matters, as a file of its own, or to install ffmpeg.",
        )
    try:
        return transcribe_online(sent, sent_kind, settings)
    except TransportError as error:
        raise ToolError(str(error), cause="transport", hint=NO_SOUND, retryable=True) from error
    except ConfigurationError as error:
        raise ToolError(str(error), cause="unavailable", hint=NO_SOUND) from error


def _hearing(store: FileStore, content_hash: str, name: str, settings: Settings) -> Future[Transcript]:
    """The hearing of a file, begun if it is not under way or done already. One that failed is not kept."""
    choices = (
        settings.transcription,
        settings.whisper_model,
        settings.transcription_model,
        settings.base_url,
    )
    key = store, content_hash, repr((*choices, settings.max_audio_minutes))
    with _lock:
        future = _kept.get(key)
        if future is not None and not (future.done() and future.exception()):
            _kept.move_to_end(key)
            return future
        future = _kept[key] = Future()
        # Marked as running, so that a caller who gives up does not cancel it for the others.
        future.set_running_or_notify_cancel()
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    # A thread cannot be killed, so a hearing outlives a call that gave up; as a daemon it does not keep the
    # process from ending.
    threading.Thread(
        target=_hear, args=(future, store, content_hash, name, settings), daemon=True, name="hear-sound"
    ).start()
    return future


def _hear(
    future: Future[Transcript], store: FileStore, content_hash: str, name: str, settings: Settings
) -> None:
    try:
        future.set_result(hear(store, content_hash, name, settings))
    except BaseException as error:  # raised again in every waiting caller
        future.set_exception(error)
