"""A stored sound file as a transcript: made once, by whichever transcriber is set up, and kept."""

from __future__ import annotations

import asyncio

from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.files import FileStore
from forethought.tools.given_files import stored_bytes
from forethought.tools.kinds import SOUNDS, sound_kind
from forethought.tools.media.endpoint import ENDPOINT, NO_SOUND
from forethought.tools.media.sound import Sound, ffmpeg_lacks
from forethought.tools.media.transcript import Transcriber, Transcript
from forethought.tools.media.whisper import WHISPER
from forethought.tools.threads import SharedWork

LONGEST_S = 1200.0
_TRANSCRIBERS = (WHISPER, ENDPOINT)
"""The preferred one first."""
_transcripts: SharedWork[Transcript] = SharedWork(16)


def transcriber(settings: Settings) -> Transcriber | str:
    """The one that is wanted and set up, or else what keeps sound from being transcribed, in words."""
    if lacks := ffmpeg_lacks():
        return lacks
    wanted = [t for t in _TRANSCRIBERS if settings.transcription in ("auto", t.name)]
    ready = next((t for t in wanted if not t.lacks(settings)), None)
    return ready or "; or OpenAI's endpoint can be used, but ".join(t.lacks(settings) for t in wanted)


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
            hint="It goes on meanwhile: make the same call later, or ask the user for a shorter file.",
            retryable=True,
        ) from error


def transcribe(store: FileStore, content_hash: str, name: str, settings: Settings) -> Transcript:
    """The transcript, from the first transcriber that has what it needs. Blocking. Raises ToolError."""
    data = stored_bytes(store, content_hash, name)
    if not data:
        raise ToolError(f"{name} is empty (0 bytes)", cause="empty", hint="Ask the user for the file again.")
    kind = sound_kind(data)
    if not kind:
        raise ToolError(
            f"{name} is not sound that can be listened to (supported: {SOUNDS})",
            cause="arguments",
            hint="Use read_file for documents and inspect_image for pictures.",
        )
    chosen = transcriber(settings)
    if isinstance(chosen, str):
        raise ToolError(f"sound cannot be transcribed here: {chosen}", cause="unavailable", hint=NO_SOUND)
    return chosen.transcribe(Sound(data, kind, name, settings.max_audio_minutes * 60), settings)
