"""Sound as samples: with ffmpeg, and without it."""

from __future__ import annotations

import io
import math
import shutil
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forethought.tools.base import ToolError
from forethought.tools.media.sound import RATE, Sound

FILES = Path(__file__).with_name("files")
SECONDS = 2.39
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg, a system package")


@pytest.fixture
def no_ffmpeg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def tone(hertz: float, rate: int, seconds: float = 1.0, channels: int = 1) -> bytes:
    """A wav of 16 bits at half loudness."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        levels = [int(16384 * math.sin(2 * math.pi * hertz * n / rate)) for n in range(int(rate * seconds))]
        file.writeframes(b"".join(struct.pack("<h", level) * channels for level in levels))
    return out.getvalue()


def decode(data: bytes, kind: str = "wav", longest_s: float = 60) -> Any:
    return Sound(data, kind, f"t.{kind}", longest_s).samples()


def speech(kind: str) -> bytes:
    return (FILES / f"speech.{kind}").read_bytes()


@pytest.mark.parametrize(("rate", "channels"), [(8_000, 1), (16_000, 2), (22_050, 1), (44_100, 2)])
@pytest.mark.usefixtures("no_ffmpeg")
def test_a_wav_keeps_pitch_length_and_loudness_without_ffmpeg(rate: int, channels: int) -> None:
    samples = decode(tone(440, rate, channels=channels))
    assert samples.dtype == np.float32
    assert abs(len(samples) - RATE) <= 1
    loudest = int(np.argmax(np.abs(np.fft.rfft(samples))))
    assert abs(loudest * RATE / len(samples) - 440) < 2
    assert 0.45 < float(np.max(np.abs(samples[2000:-2000]))) < 0.55


@pytest.mark.usefixtures("no_ffmpeg")
def test_pitches_above_the_target_rate_are_filtered_out() -> None:
    assert float(np.max(np.abs(decode(tone(12_000, 44_100))[500:-500]))) < 0.02


@needs_ffmpeg
@pytest.mark.parametrize("kind", ["wav", "mp3", "m4a", "ogg", "flac"])
def test_every_format_sounds_the_same(kind: str) -> None:
    plain = decode(speech("wav"))
    samples = decode(speech(kind), kind)
    assert abs(len(samples) / RATE - SECONDS) < 0.15
    both = np.correlate(samples, plain[: len(plain) - 4000], mode="valid")
    likeness = float(both.max() / np.dot(plain, plain))
    assert likeness > 0.7


@pytest.mark.usefixtures("no_ffmpeg")
@pytest.mark.parametrize("name", ["speech.mp3", "eight_bits.wav"])
def test_without_ffmpeg_other_formats_name_what_is_missing(name: str) -> None:
    sound = Sound((FILES / name).read_bytes(), name.rsplit(".")[1], name, 60)
    with pytest.raises(ToolError, match=r"needs ffmpeg .* not installed") as raised:
        sound.samples()
    assert raised.value.cause == "unavailable"
    assert "16-bit PCM wav" in raised.value.hint
    assert sound.shrunk() is None


@pytest.mark.usefixtures("no_ffmpeg")
def test_a_truncated_wav_is_used_as_far_as_it_goes() -> None:
    data = tone(440, 16_000)
    with pytest.raises(ToolError, match=r"^t\.wav"):
        decode(data[:30])
    assert len(decode(data[: len(data) // 2 + 1])) == pytest.approx(8000, abs=50)


@pytest.mark.parametrize("with_ffmpeg", [pytest.param(True, marks=needs_ffmpeg), False])
def test_a_file_without_sound_or_over_the_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, with_ffmpeg: bool
) -> None:
    data = tone(440, 8_000, seconds=9)
    if not with_ffmpeg:
        monkeypatch.setenv("PATH", "")
    assert len(decode(data, longest_s=9)) == pytest.approx(9 * RATE, abs=10)
    with pytest.raises(ToolError, match=r"t\.wav is longer than 0\.1 minutes") as raised:
        decode(data, longest_s=6)
    assert raised.value.cause == "limit"
    assert "FORETHOUGHT_MAX_AUDIO_MINUTES" in raised.value.hint
    with pytest.raises(ToolError, match="has no sound") as raised:
        decode(tone(440, 8_000, seconds=0))
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
    assert shrunk is not None
    assert len(shrunk) < 15_000
    assert b"private" not in shrunk
    with pytest.raises(ToolError, match="longer than"):
        Sound(speech("wav"), "wav", "speech.wav", 1).shrunk()
