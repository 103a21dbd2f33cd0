"""A stored sound file as a transcript: made once, by whichever transcriber is set up, and kept."""

from __future__ import annotations

import asyncio

from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.files import FileStore
from forethought.tools.given_files import stored_bytes
from forethought.tools.kinds import SOUNDS, sound_kind
from forethought.tools.media.endpoint import NO_SOUND, endpoint_lacks, transcribe_online
from forethought.tools.media.sound import Sound, Transcript, ffmpeg_lacks
from forethought.tools.media.whisper import transcribe_here, whisper_lacks
from forethought.tools.threads import SharedWork

LONGEST_S = 1200.0
_WAYS = {"whisper": (whisper_lacks, transcribe_here), "openai": (endpoint_lacks, transcribe_online)}
"""What keeps each way from being used, and its transcript of a sound; the preferred way first."""
_transcripts: SharedWork[Transcript] = SharedWork(16)


def chosen_way(settings: Settings) -> str:
    """Name of the way that is asked for and set up. Raises ToolError, which says what is missing."""
    names = [name for name in _WAYS if settings.transcription in ("auto", name)]
    lacks = {name: ffmpeg_lacks() or _WAYS[name][0](settings) for name in names}
    for name, missing in lacks.items():
        if not missing:
            return name
    why = "; or OpenAI's endpoint can be used, but ".join(dict.fromkeys(lacks.values()))
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
    sound = Sound(data, kind, name, settings.max_audio_minutes * 60)
    return _WAYS[chosen_way(settings)][1](sound, settings)
