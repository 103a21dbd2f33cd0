"""Sound as samples and as a small file, by ffmpeg."""

from __future__ import annotations

import io
import shutil
import subprocess
import threading
import time
import wave
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forethought.tools.base import ToolError
from forethought.tools.media import sound
from forethought.tools.media.sound import RATE, Sound

FILES = Path(__file__).with_name("files")
SECONDS = 2.39
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg, a system package")


def wav(seconds: int) -> bytes:
    """A silent wav."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(bytes(seconds * 16_000))
    return out.getvalue()


def decode(data: bytes, kind: str = "wav", longest_s: float = 60) -> Any:
    return Sound(data, kind, f"t.{kind}", longest_s).samples()


def speech(kind: str) -> bytes:
    return (FILES / f"speech.{kind}").read_bytes()


@needs_ffmpeg
@pytest.mark.parametrize("kind", ["wav", "mp3", "m4a", "ogg", "flac"])
def test_every_format_sounds_the_same(kind: str) -> None:
    plain = decode(speech("wav"))
    samples = decode(speech(kind), kind)
    assert abs(len(samples) / RATE - SECONDS) < 0.15
    both = np.correlate(samples, plain[: len(plain) - 4000], mode="valid")
    likeness = float(both.max() / np.dot(plain, plain))
    assert likeness > 0.7


@pytest.mark.usefixtures("ffmpeg_stand_in")
def test_a_file_without_sound_or_over_the_limit_is_refused() -> None:
    data = wav(seconds=9)
    assert len(decode(data, longest_s=9)) == 9 * RATE
    for call in (Sound.samples, Sound.shrunk):
        with pytest.raises(ToolError, match=r"t\.wav is longer than 0\.1 minutes") as raised:
            call(Sound(data, "wav", "t.wav", 6))
        assert raised.value.cause == "limit"
        assert "FORETHOUGHT_MAX_AUDIO_MINUTES" in raised.value.hint
    with pytest.raises(ToolError, match="contains no sound") as raised:
        decode(wav(seconds=0))
    assert raised.value.cause == "empty"


@needs_ffmpeg
@pytest.mark.parametrize("kind", ["mp3", "wav"])
def test_a_playlist_reads_no_other_file(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret.wav"
    secret.write_bytes(speech("wav"))
    playlists = [
        f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://{secret}\n",
        f"ffconcat version 1.0\nfile {secret}\n",
    ]
    for text in [*playlists, "nonsense " * 99]:
        with pytest.raises(ToolError) as raised:
            decode(text.encode(), kind)
        assert str(tmp_path) not in raised.value.message


@needs_ffmpeg
def test_an_upload_is_small_and_has_no_metadata() -> None:
    assert b"private" in speech("mp3")
    shrunk = Sound(speech("mp3"), "mp3", "speech.mp3", 60).shrunk()
    assert len(shrunk) < 15_000
    assert b"private" not in shrunk
    with pytest.raises(ToolError, match="longer than"):
        Sound(speech("wav"), "wav", "speech.wav", 1).shrunk()


def test_no_more_sounds_are_decoded_at_a_time_than_there_are_places(monkeypatch: pytest.MonkeyPatch) -> None:
    places, busy, most = threading.Semaphore(2), [0], [0]

    def run(*command: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        busy[0] += 1
        most[0] = max(most[0], busy[0])
        time.sleep(0.01)
        busy[0] -= 1
        return subprocess.CompletedProcess([], 0, bytes(100), b"")

    monkeypatch.setattr(sound, "_CORES", places)
    monkeypatch.setattr(subprocess, "run", run)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(decode, [wav(1)] * 6))
    assert most == [2]
