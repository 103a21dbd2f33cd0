"""Sound as samples for a transcriber, or as a small file to send to one.

Sound is decoded by ffmpeg, in a process of its own that is told which container to open and may open nothing
but the one file: a playlist or a reference inside a file leads nowhere. A 16-bit wav needs no ffmpeg.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import wave
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.tools.base import ToolError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

RATE = 16_000
"""Samples a second, as speech recognition takes them."""
_DEMUXERS = {"mp3": "mp3", "m4a": "mov", "wav": "wav", "ogg": "ogg", "flac": "flac"}
_LONGEST_DECODING_S = 600
_KBITS = 32
"""Of a file made for sending: an hour is 14 MB."""
_BLOCK = 1_000_000
"""Samples resampled at a time."""
ASK_AGAIN = "Ask the user for the file again, or as another format."


def has_ffmpeg() -> bool:
    """Whether ffmpeg is on the PATH."""
    return shutil.which("ffmpeg") is not None


def decode(path: Path, kind: str, name: str, longest_s: float) -> Samples:
    """The sound of a file of `kind`, mono, -1 to 1, RATE a second. At most `longest_s` seconds.

    Raises ToolError: too long, damaged, without sound, or ffmpeg is needed and missing.
    """
    import numpy as np

    if has_ffmpeg():
        raw = _ffmpeg(path, kind, name, longest_s, ["-f", "s16le"])
        whole = np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<i2")
        samples = whole.astype(np.float32) / np.float32(32768)
    elif kind == "wav":
        samples = _decode_wav(path.read_bytes(), name, longest_s)
    else:
        raise _needs_ffmpeg(f"{name} (.{kind})")
    check_length(len(samples) / RATE, name, longest_s)
    return samples


def shrunk(path: Path, kind: str, name: str, longest_s: float) -> bytes | None:
    """The sound as a small mp3, without the file's metadata; None where ffmpeg is missing or makes none.

    Raises ToolError: too long, damaged, without sound.
    """
    if not has_ffmpeg():
        return None
    options = ["-map_metadata", "-1", "-c:a", "libmp3lame", "-b:a", f"{_KBITS}k", "-f", "mp3"]
    try:
        made = _ffmpeg(path, kind, name, longest_s, options)
    except ToolError:
        # Either there is no mp3 encoder, or the file is at fault, which decoding alone tells.
        _ffmpeg(path, kind, name, longest_s, ["-f", "null"])
        return None
    check_length(len(made) * 8 / (_KBITS * 1000), name, longest_s)
    return made


def check_length(seconds: float, name: str, longest_s: float) -> None:
    """Raises ToolError when a sound of `seconds` is longer than `longest_s`, or there is none."""
    if seconds <= 0:
        raise ToolError(f"{name} has no sound in it", cause="empty", hint=ASK_AGAIN)
    # Encoders round up to whole frames.
    if seconds > longest_s + 0.5:
        raise ToolError(
            f"{name} is longer than {longest_s / 60:g} minutes, the most that is transcribed here",
            cause="limit",
            hint="Ask the user for the part that matters, as a file of its own "
            "(the operator's setting is FORETHOUGHT_MAX_AUDIO_MINUTES).",
        )


def wav_seconds(data: bytes) -> float | None:
    """Length by the header of a PCM wav; None where it cannot be told."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            return float(file.getnframes() / file.getframerate())
    except (wave.Error, EOFError, ZeroDivisionError):
        return None


def _ffmpeg(path: Path, kind: str, name: str, longest_s: float, output: list[str]) -> bytes:
    """What ffmpeg writes for the first sound track; a little more than `longest_s`, so that more is seen."""
    command = [
        "ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file,pipe",
        "-f", _DEMUXERS[kind], "-i", f"file:{path.resolve()}", "-map", "0:a:0", "-t", f"{longest_s + 2:g}",
        "-ac", "1", "-ar", str(RATE), *output, "pipe:1",
    ]  # fmt: skip
    # No variable of the environment but the PATH: the decoder of a stranger's file needs no keys.
    environment = {"PATH": os.environ.get("PATH", os.defpath)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=_LONGEST_DECODING_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(
            f"{name} takes longer than {_LONGEST_DECODING_S} seconds to decode",
            cause="timeout",
            hint=ASK_AGAIN,
        ) from error
    except OSError as error:
        raise ToolError(f"ffmpeg cannot be run: {error.strerror}", cause="unavailable") from error
    said = done.stderr.decode("utf-8", "replace")
    if "matches no streams" in said:
        raise ToolError(f"{name} has no sound in it", cause="empty", hint=ASK_AGAIN)
    if done.returncode != 0 and not done.stdout:
        why = _last_line(said.replace(f"file:{path.resolve()}", name))
        raise ToolError(f"{name} cannot be decoded as .{kind}: {why}", hint=ASK_AGAIN)
    return done.stdout


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "ffmpeg does not say why"


def _needs_ffmpeg(what: str) -> ToolError:
    return ToolError(
        f"{what} needs ffmpeg to be decoded, which is not installed here",
        cause="unavailable",
        hint="Ask the user for a 16-bit PCM wav, or to install ffmpeg with the system's packages.",
    )


def _decode_wav(data: bytes, name: str, longest_s: float) -> Samples:
    import numpy as np

    try:
        with wave.open(io.BytesIO(data)) as file:
            width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            if rate <= 0 or channels <= 0:
                raise ToolError(f"{name} is damaged: its header makes no sense", hint=ASK_AGAIN)
            check_length(file.getnframes() / rate, name, longest_s)
            raw = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        if "unknown format" in str(error):
            raise _needs_ffmpeg(f"{name} (a wav that is not 16-bit PCM)") from error
        raise ToolError(f"{name} is damaged: {error or 'it ends too early'}", hint=ASK_AGAIN) from error
    if width != 2:
        raise _needs_ffmpeg(f"{name} (a wav of {width * 8} bits)")
    whole = raw[: len(raw) // (2 * channels) * 2 * channels]
    pairs = np.frombuffer(whole, dtype="<i2").reshape(-1, channels)
    mono: Samples = pairs.mean(axis=1, dtype=np.float32) / np.float32(32768)
    return resample(mono, rate)


def resample(samples: Samples, rate: int) -> Samples:
    """`samples` of `rate` a second as RATE a second."""
    import numpy as np

    if rate == RATE or not len(samples):
        return samples
    if rate > RATE:
        # Without it, what lies above half the new rate would come back as noise. A windowed sinc of 101 taps.
        taps = np.arange(-50, 51)
        kernel = np.sinc(taps * RATE / rate) * np.hamming(101)
        samples = np.convolve(samples, (kernel / kernel.sum()).astype(np.float32), mode="same")[
            : len(samples)
        ]
    count = max(1, round(len(samples) * RATE / rate))
    made = np.empty(count, dtype=np.float32)
    for at in range(0, count, _BLOCK):  # in blocks: an hour at once would take a gigabyte
        wanted = np.arange(at, min(at + _BLOCK, count)) * (rate / RATE)
        first, last = int(wanted[0]), int(wanted[-1]) + 2
        piece = samples[first:last]
        made[at : at + len(wanted)] = np.interp(wanted - first, np.arange(len(piece)), piece)
    return made
