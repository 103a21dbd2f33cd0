"""The tool `inspect_audio`, with a stand-in for the package `whisper` where that is not the point."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import importlib.util
import io
import json
import shutil
import sys
import threading
import time
import types
import urllib.error
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from forethought.prompts.replies import DocumentAnswer
from forethought.settings import Settings
from forethought.storage.encryption import cipher_of
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.call import MAX_CHARACTERS, call_tool
from forethought.tools.files import FileStore
from forethought.tools.inspect_audio import INSPECT_AUDIO, clock
from forethought.tools.media import whisper as local_whisper
from forethought.tools.media.transcribe import load_transcript
from tests.support.web_server import Sent, WebServer

FILES = Path(__file__).with_name("media") / "files"
Make = Callable[..., Settings]
SEGMENTS = [
    {"start": 0.0, "end": 1.4, "text": " The meeting is"},
    {"start": 1.4, "end": 2.4, "text": " on Tuesday at ten."},
    {"start": 2.4, "end": 2.4, "text": "  "},
]
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg, a system package")


class Whisper:
    """Stands at the boundary of the package `whisper`: what was loaded and heard, and what it says."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.heard: list[float] = []
        self.segments: list[dict[str, Any]] = SEGMENTS
        self.failure: Exception | None = None
        self.wait = threading.Event()
        self.wait.set()
        self.device = "cpu"

    def load_model(self, name: str) -> Whisper:
        if self.failure:
            raise self.failure
        self.loaded.append(name)
        return self

    def transcribe(self, samples: Any, *, fp16: bool, verbose: Any) -> dict[str, Any]:
        assert (str(samples.dtype), fp16, verbose) == ("float32", False, None)
        self.wait.wait(20)
        self.heard.append(len(samples) / 16_000)
        return {"language": "en", "segments": self.segments, "text": ""}


@pytest.fixture
def whisper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Whisper]:
    stand_in = Whisper()
    module = types.ModuleType("whisper")
    module.__spec__ = importlib.machinery.ModuleSpec("whisper", None)
    module.load_model = stand_in.load_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "whisper", module)
    monkeypatch.setattr(local_whisper, "_loaded", {})
    yield stand_in
    stand_in.wait.set()


@pytest.fixture
def no_whisper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "whisper", None)


@pytest.fixture
def env(tmp_path: Path, settings: Make) -> ToolEnv:
    store = FileStore(tmp_path / "blobs")
    files = {path.name: store.put(path.read_bytes()) for path in FILES.iterdir()}
    files |= {"notes.txt": store.put(b"no sound"), "empty.wav": store.put(b""), "gone.wav": "0" * 64}
    return ToolEnv(settings(), files=files, store=store)


def silence(seconds: int, rate: int) -> bytes:
    """A wav of 16 bits, mono."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(seconds * rate * 2))
    return out.getvalue()


async def listen(env: ToolEnv, path: str, question: str | None = None) -> Observation:
    observation = await INSPECT_AUDIO.run(env, path=path, question=question)
    assert isinstance(observation, Observation)
    return observation


def setting(env: ToolEnv, **changes: Any) -> ToolEnv:
    return dataclasses.replace(env, settings=env.settings.model_copy(update=changes))


async def test_a_transcript_has_times(env: ToolEnv, whisper: Whisper) -> None:
    observation = await listen(env, "Speech.wav")
    assert observation == Observation(
        "speech.wav, 00:02 of sound, language en, transcribed by whisper (base); words may be misheard.\n"
        "[00:00-00:01] The meeting is\n[00:01-00:02] on Tuesday at ten.",
        origin="file:speech.wav",
    )
    assert whisper.heard == [pytest.approx(2.39, abs=0.01)]


@needs_ffmpeg
@pytest.mark.parametrize("name", ["speech.mp3", "speech.m4a", "speech.ogg", "speech.flac", "eight_bits.wav"])
async def test_every_format_is_heard(env: ToolEnv, whisper: Whisper, name: str) -> None:
    assert (await listen(env, name)).text.startswith(f"{name}, 00:02 of sound")
    assert whisper.heard == [pytest.approx(2.4, abs=0.15)]


async def test_a_file_that_is_encrypted_at_rest_is_heard(
    env: ToolEnv, whisper: Whisper, tmp_path: Path
) -> None:
    store = FileStore(tmp_path / "encrypted", cipher_of(bytes(range(32))))
    files = {"speech.wav": store.put((FILES / "speech.wav").read_bytes())}
    assert (await listen(dataclasses.replace(env, store=store, files=files), "speech.wav")).ok
    assert whisper.heard == [pytest.approx(2.39, abs=0.01)]


async def test_a_question_is_answered_in_three_parts_from_the_transcript(
    env: ToolEnv, whisper: Whisper
) -> None:
    asked: list[tuple[str, str, str]] = []

    async def inspect(question: str, text: str, name: str) -> DocumentAnswer:
        asked.append((question, text, name))
        return DocumentAnswer(brief="Tuesday.", details="At ten.", context="At 00:01.")

    observation = await listen(dataclasses.replace(env, inspect=inspect), "speech.wav", " When? ")
    assert asked == [
        ("When?", "[00:00-00:01] The meeting is\n[00:01-00:02] on Tuesday at ten.", "speech.wav")
    ]
    assert observation.text.split("\n")[1:] == ["Brief: Tuesday.", "Details: At ten.", "Context: At 00:01."]


async def test_a_question_without_a_model_does_not_begin_to_listen(env: ToolEnv, whisper: Whisper) -> None:
    with pytest.raises(ToolError, match="not available") as raised:
        await listen(env, "speech.wav", "When?")
    assert "without a question" in raised.value.hint
    assert whisper.heard == []


async def test_a_file_is_heard_once_and_a_failure_is_not_kept(env: ToolEnv, whisper: Whisper) -> None:
    whisper.failure = urllib.error.URLError("no route")
    with pytest.raises(ToolError):
        await listen(env, "speech.wav")
    whisper.failure = None
    first = await listen(env, "speech.wav")
    assert await listen(env, "speech.wav") == first
    assert (len(whisper.heard), whisper.loaded) == (1, ["base"])
    await listen(setting(env, max_audio_minutes=30), "speech.wav")
    assert len(whisper.heard) == 2, "other settings, another hearing"


async def test_a_hearing_that_takes_too_long_goes_on_and_serves_the_next_call(
    env: ToolEnv, whisper: Whisper
) -> None:
    assert env.store is not None
    whisper.wait.clear()
    for _ in range(2):
        with pytest.raises(ToolError, match=r"speech\.wav is not transcribed yet") as raised:
            await load_transcript(env.store, env.files["speech.wav"], "speech.wav", env.settings, 0.05)
        assert (raised.value.cause, raised.value.retryable) == ("timeout", True)
    whisper.wait.set()
    assert "Tuesday" in (await listen(env, "speech.wav")).text
    assert len(whisper.heard) == 1
    assert INSPECT_AUDIO.retryable, "so that the same call may be made again"


async def test_a_long_transcript_says_what_is_not_shown(env: ToolEnv, whisper: Whisper) -> None:
    assert env.store is not None
    files = {"long.wav": env.store.put(silence(seconds=60, rate=8_000))}
    whisper.segments = [{"start": n * 0.06, "end": n * 0.06 + 9, "text": "word " * 12} for n in range(1000)]
    observation = await call_tool(INSPECT_AUDIO, {"path": "long.wav"}, dataclasses.replace(env, files=files))
    assert observation.partial
    assert len(observation.text) < MAX_CHARACTERS
    *_, shown, note = observation.text.split("\n")
    assert shown.endswith("word word")
    assert note.startswith("[not shown: 00:1")
    assert "to 01:00; ask a question about that time" in note


@pytest.mark.parametrize(
    ("name", "said", "cause"),
    [
        ("notes.txt", "not sound", "arguments"),
        ("ffmpeg_card.png", "not sound", "arguments"),
        ("empty.wav", "is empty", "empty"),
        ("gone.wav", "not stored here", "not_found"),
        ("nothing.mp3", "no file called", "not_found"),
    ],
)
async def test_what_cannot_be_heard_says_why(
    env: ToolEnv, whisper: Whisper, name: str, said: str, cause: str
) -> None:
    with pytest.raises(ToolError, match=said) as raised:
        await listen(env, name)
    assert (raised.value.cause, bool(raised.value.hint)) == (cause, True)
    assert whisper.heard == []


async def test_silence_is_no_transcript(env: ToolEnv, whisper: Whisper) -> None:
    whisper.segments = []
    with pytest.raises(ToolError, match=r"no speech was recognised in speech\.wav \(00:02 of sound\)"):
        await listen(env, "speech.wav")


async def test_an_over_long_file_is_not_heard(env: ToolEnv, whisper: Whisper) -> None:
    with pytest.raises(ToolError, match=r"longer than 0\.01 minutes") as raised:
        await listen(setting(env, max_audio_minutes=0.01), "speech.wav")
    assert raised.value.cause == "limit"
    assert whisper.heard == []


@pytest.mark.usefixtures("no_whisper")
async def test_without_any_transcriber_both_ways_are_named(env: ToolEnv) -> None:
    observation = await call_tool(INSPECT_AUDIO, {"path": "speech.wav"}, env)
    assert (observation.ok, observation.cause) == (False, "unavailable")
    assert "pip install 'forethought[audio]'" in observation.text
    assert "OPENAI_API_KEY is not set" in observation.text
    assert observation.hint
    only = await call_tool(INSPECT_AUDIO, {"path": "speech.wav"}, setting(env, transcription="whisper"))
    assert "OPENAI_API_KEY" not in only.text


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (urllib.error.URLError("no route to host"), "cannot be downloaded .no route to host"),
        (RuntimeError("Model base not found; available models = ['tiny']"), "Model base not found"),
        (ImportError("libtorch.so is missing"), "ImportError: libtorch.so is missing"),
    ],
)
async def test_missing_weights_say_what_to_set(
    env: ToolEnv, whisper: Whisper, failure: Exception, said: str
) -> None:
    whisper.failure = failure
    with pytest.raises(ToolError, match=said) as raised:
        await listen(env, "speech.wav")
    assert raised.value.cause == "unavailable"


async def test_a_checkpoint_that_is_not_there_is_named_by_its_setting(env: ToolEnv, whisper: Whisper) -> None:
    with pytest.raises(ToolError, match=r"/none/model\.pt cannot be used: there is no such file") as raised:
        await listen(setting(env, whisper_model="/none/model.pt"), "speech.wav")
    assert "FORETHOUGHT_WHISPER_MODEL" in raised.value.hint
    assert whisper.loaded == []


@pytest.fixture
def endpoint() -> Iterator[WebServer]:
    said = {"text": "x", "language": "english", "duration": 2.4, "segments": [{"id": 0, **SEGMENTS[0]}]}
    server = WebServer(lambda asked: Sent(json.dumps(said), headers={"Content-Type": "application/json"}))
    yield server
    server.close()


@pytest.mark.usefixtures("no_whisper")
async def test_without_whisper_the_endpoint_hears_the_file(env: ToolEnv, endpoint: WebServer) -> None:
    online = setting(env, base_url=endpoint.url, api_key=SecretStr("key-of-a-test"))
    text = (await listen(online, "speech.wav")).text
    assert "transcribed by the model whisper-1" in text
    assert "[00:00-00:01] The meeting is" in text
    sent = endpoint.asked[0].body
    assert (b"sound.mp3" in sent) == (shutil.which("ffmpeg") is not None)
    assert b"speech" not in sent, "the file's own name stays here"


@pytest.mark.usefixtures("no_whisper")
async def test_what_the_endpoint_costs_is_booked_once(env: ToolEnv, endpoint: WebServer) -> None:
    booked: list[Any] = []
    online = setting(env, base_url=endpoint.url, api_key=SecretStr("key-of-a-test"))
    for _ in range(2):
        await listen(dataclasses.replace(online, book=booked.append), "speech.wav")
    assert [usage["calls"] for usage in booked] == [1]


async def test_when_whisper_lacks_its_weights_the_endpoint_takes_over_only_if_both_may(
    env: ToolEnv, whisper: Whisper, endpoint: WebServer
) -> None:
    whisper.failure = urllib.error.URLError("no route")
    online = setting(env, base_url=endpoint.url, api_key=SecretStr("key-of-a-test"))
    with pytest.raises(ToolError, match="weights"):
        await listen(setting(online, transcription="whisper"), "speech.wav")
    assert endpoint.asked == []
    assert "whisper-1" in (await listen(online, "speech.wav")).text


@pytest.mark.usefixtures("no_whisper")
async def test_a_file_too_large_to_send_is_not_sent(
    env: ToolEnv, endpoint: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert env.store is not None
    monkeypatch.setenv("PATH", "")
    files = {"big.wav": env.store.put(silence(seconds=270, rate=48_000))}
    online = setting(env, base_url=endpoint.url, api_key=SecretStr("key-of-a-test"))
    with pytest.raises(ToolError, match="too large for the transcription endpoint") as raised:
        await listen(dataclasses.replace(online, files=files), "big.wav")
    assert raised.value.cause == "limit"
    with pytest.raises(ToolError, match="longer than 1 minutes"):
        await listen(setting(dataclasses.replace(online, files=files), max_audio_minutes=1), "big.wav")
    assert endpoint.asked == []


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "00:00"), (12.4, "00:12"), (59.6, "01:00"), (3599, "59:59"), (3612, "1:00:12")]
)
def test_clock(seconds: float, said: str) -> None:
    assert clock(seconds) == said


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A very small whisper with random weights: it says nothing sensible, by the real way."""
    pytest.importorskip("whisper", reason="needs openai-whisper: pip install 'forethought[audio]'")
    import torch
    from whisper.model import ModelDimensions, Whisper

    torch.manual_seed(3)
    sizes = ModelDimensions(80, 1500, 16, 2, 1, 51_865, 448, 16, 2, 1)
    path = tmp_path / "tiny-random.pt"
    torch.save({"dims": vars(sizes), "model_state_dict": Whisper(sizes).state_dict()}, path)
    return path


# whisper itself leaves its vocabulary file open.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_the_real_whisper_hears_a_spoken_file(env: ToolEnv, checkpoint: Path) -> None:
    started = time.monotonic()
    observation = await call_tool(
        INSPECT_AUDIO, {"path": "speech.wav"}, setting(env, whisper_model=str(checkpoint))
    )
    print(f"{time.monotonic() - started:.1f} s: {observation.text[:300]}")
    assert observation.origin in ("file:speech.wav", "tool:inspect_audio")
    # Random weights may well find no words in it; what they find has times.
    if observation.ok:
        assert "transcribed by whisper (tiny-random)" in observation.text
        assert "\n[00:0" in observation.text
    else:
        assert observation.text == "no speech was recognised in speech.wav (00:02 of sound)"


async def test_the_real_whisper_refuses_what_is_no_checkpoint(
    env: ToolEnv, checkpoint: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"PK" + bytes(5000))
    with pytest.raises(ToolError, match=r"the weights of whisper model .* cannot be used"):
        await listen(setting(env, whisper_model=str(broken)), "speech.wav")


@pytest.mark.skipif(importlib.util.find_spec("whisper") is None, reason="needs openai-whisper")
async def test_the_real_whisper_without_weights_and_network(
    env: ToolEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ToolError, match="the weights of whisper model tiny cannot be used") as raised:
        await listen(setting(env, whisper_model="tiny"), "speech.wav")
    assert raised.value.cause == "unavailable"
