"""Sound as samples for a transcriber, or as a small file to send to one, and what was said in it.

ffmpeg makes both, in a process of its own that is told which container to open and may open nothing but the
one file: a playlist or a reference inside a file leads nowhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.models.types import Usage
from forethought.tools.base import ToolError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE = 16_000
"""Samples a second, as speech recognition takes them."""
_DEMUXERS = {"mp3": "mp3", "m4a": "mov", "wav": "wav", "ogg": "ogg", "flac": "flac"}
_LONGEST_DECODING_S = 600
_CORES = threading.Semaphore(os.cpu_count() or 1)
"""At most one ffmpeg a core decodes at a time."""
_KBITS = 32
"""Of a file made for sending: an hour is 14 MB."""
ASK_AGAIN = "Ask the user for the file again, or as another format."


def ffmpeg_lacks() -> str:
    """What keeps ffmpeg from being used; '' if nothing does."""
    return (
        ""
        if shutil.which("ffmpeg")
        else "ffmpeg is not installed (install it with the system's package manager)"
    )


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
    """What the transcript cost, until its first user records it: later ones get it free."""


@dataclass(frozen=True)
class Sound:
    """A sound file. Its methods raise ToolError: too long, damaged, or without sound."""

    data: bytes
    kind: str
    """One of `tools.kinds.SOUNDS`."""
    name: str
    longest_s: float

    def samples(self) -> Samples:
        """Mono, -1 to 1, RATE a second."""
        import numpy as np

        raw = self._ffmpeg(["-f", "s16le"])
        whole = np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<i2")
        self._check_length(len(whole) / RATE)
        return whole.astype(np.float32) / np.float32(32768)

    def shrunk(self) -> bytes:
        """The sound as a small mp3, without the file's metadata."""
        options = ["-map_metadata", "-1", "-c:a", "libmp3lame", "-b:a", f"{_KBITS}k", "-f", "mp3"]
        encoded = self._ffmpeg(options)
        self._check_length(len(encoded) * 8 / (_KBITS * 1000))
        return encoded

    def _check_length(self, seconds: float) -> None:
        if seconds <= 0:
            raise ToolError(f"{self.name} contains no sound", cause="empty", hint=ASK_AGAIN)
        # Encoders round up to whole frames.
        if seconds > self.longest_s + 0.5:
            raise ToolError(
                f"{self.name} is longer than {self.longest_s / 60:g} minutes, the limit here",
                cause="limit",
                hint="Ask the user for the part that matters, as a file of its own (the operator can raise "
                "FORETHOUGHT_MAX_AUDIO_MINUTES).",
            )

    def _ffmpeg(self, output: list[str]) -> bytes:
        """What ffmpeg writes for the first track; a little more than the longest, so that more is seen."""
        with tempfile.TemporaryDirectory(prefix="forethought-") as folder:
            path = Path(folder) / "sound"  # which ffmpeg can seek in; the stored file may be encrypted
            path.write_bytes(self.data)
            command = [
                *("ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error"),
                *("-protocol_whitelist", "file,pipe", "-f", _DEMUXERS[self.kind], "-i", f"file:{path}"),
                *("-map", "0:a:0", "-t", f"{self.longest_s + 2:g}", "-ac", "1", "-ar", str(RATE)),
                *(*output, "pipe:1"),
            ]
            # No variable of the environment but the PATH: the decoder of a stranger's file needs no keys.
            environment = {"PATH": os.environ.get("PATH", os.defpath)}
            try:
                with _CORES:
                    done = subprocess.run(
                        command,
                        env=environment,
                        capture_output=True,
                        timeout=_LONGEST_DECODING_S,
                        check=False,
                    )
            except subprocess.TimeoutExpired as error:
                message = f"{self.name} takes longer than {_LONGEST_DECODING_S} seconds to decode"
                raise ToolError(message, cause="timeout", hint=ASK_AGAIN) from error
        message = done.stderr.decode("utf-8", "replace").replace(f"file:{path}", self.name)
        if "matches no streams" in message:
            raise ToolError(f"{self.name} contains no sound", cause="empty", hint=ASK_AGAIN)
        if done.returncode != 0 and not done.stdout:
            why = (message.split("\n")[-2:-1] or ["ffmpeg gives no reason"])[0][:200]
            raise ToolError(f"{self.name} cannot be decoded as .{self.kind}: {why}", hint=ASK_AGAIN)
        return done.stdout
