"""The tool `inspect_audio`, mostly with a stand-in for the package `whisper`."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import json
import sys
import threading
import types
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from forethought.extras import install_command
from forethought.prompts.replies import DocumentAnswer
from forethought.settings import Settings
from forethought.sizes import LONGEST_OBSERVATION
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.call import call_tool
from forethought.tools.files import FileStore
from forethought.tools.inspect_audio import INSPECT_AUDIO, clock
from forethought.tools.media import transcription
from forethought.tools.media.transcription import load_transcript
from tests.support.web_server import Sent, StartServer, WebServer

FILES = Path(__file__).with_name("media") / "files"
Make = Callable[..., Settings]
SEGMENTS = [
    {"start": 0.0, "end": 1.4, "text": " The meeting is"},
    {"start": 1.4, "end": 2.4, "text": " on Tuesday at ten."},
    {"start": 2.4, "end": 2.4, "text": "  "},
]
pytestmark = pytest.mark.usefixtures("ffmpeg_stand_in")


class Whisper:
    """A stand-in for the package `whisper` and its models."""

    device = "cpu"

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.heard: list[float] = []
        self.segments: list[dict[str, Any]] = SEGMENTS
        self.failure: Exception | None = None
        self.wait = threading.Event()
        self.wait.set()

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
    monkeypatch.setattr(transcription, "_loaded", {})
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


async def listen(env: ToolEnv, path: str = "speech.wav", question: str | None = None) -> Observation:
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


async def test_a_transcript_is_cached_and_a_failure_is_not(env: ToolEnv, whisper: Whisper) -> None:
    whisper.failure = urllib.error.URLError("no route to host")
    with pytest.raises(
        ToolError, match=r"weights of whisper model base cannot be used: .*no route to host"
    ) as raised:
        await listen(env)
    assert raised.value.cause == "unavailable"
    whisper.failure = None
    first = await listen(env)
    assert await listen(env) == first
    assert (len(whisper.heard), whisper.loaded) == (1, ["base"])
    whisper.segments = []
    with pytest.raises(ToolError, match=r"no speech was recognised in speech\.wav \(00:02 of sound\)"):
        await listen(setting(env, max_audio_minutes=30))
    assert len(whisper.heard) == 2, "other settings, another transcription"


async def test_a_slow_transcription_goes_on_and_serves_the_next_call(env: ToolEnv, whisper: Whisper) -> None:
    assert env.store is not None
    whisper.wait.clear()
    for _ in range(2):
        with pytest.raises(ToolError, match=r"speech\.wav is not transcribed yet") as raised:
            await load_transcript(env.store, env.files["speech.wav"], "speech.wav", env.settings, 0.05)
        assert (raised.value.cause, raised.value.retryable) == ("timeout", True)
    whisper.wait.set()
    assert "Tuesday" in (await listen(env)).text
    assert len(whisper.heard) == 1
    assert INSPECT_AUDIO.retryable, "so that the same call may be made again"


async def test_a_long_transcript_says_what_is_not_shown(env: ToolEnv, whisper: Whisper) -> None:
    whisper.segments = [{"start": n * 0.002, "end": n * 0.002 + 9, "text": "word " * 12} for n in range(1000)]
    observation = await call_tool(INSPECT_AUDIO, {"path": "speech.wav"}, env)
    assert observation.partial
    assert len(observation.text) < LONGEST_OBSERVATION
    *_, shown, note = observation.text.split("\n")
    assert shown.endswith("word word")
    assert note.startswith("[not shown: 00:00")
    assert "to 00:02; ask a question about that time" in note


@pytest.mark.parametrize(
    ("name", "changes", "message", "cause"),
    [
        ("notes.txt", {}, "not sound", "arguments"),
        ("empty.wav", {}, "is empty", "empty"),
        ("gone.wav", {}, "not stored here", "not_found"),
        ("nothing.mp3", {}, "no file called", "not_found"),
        ("speech.wav", {"max_audio_minutes": 0.01}, r"longer than 0\.01 minutes", "limit"),
    ],
)
async def test_an_unusable_file_or_model_names_its_fault(
    env: ToolEnv, whisper: Whisper, name: str, changes: dict[str, Any], message: str, cause: str
) -> None:
    with pytest.raises(ToolError, match=message) as raised:
        await listen(setting(env, **changes), name)
    assert (raised.value.cause, bool(raised.value.hint)) == (cause, True)
    assert (whisper.heard, whisper.loaded) == ([], [])


@pytest.mark.usefixtures("no_whisper")
async def test_without_any_transcriber_both_ways_are_named(env: ToolEnv) -> None:
    observation = await call_tool(INSPECT_AUDIO, {"path": "speech.wav"}, env)
    assert (observation.ok, observation.cause) == (False, "unavailable")
    assert install_command("audio") in observation.text
    assert "OPENAI_API_KEY is not set" in observation.text
    assert observation.hint
    only = await call_tool(INSPECT_AUDIO, {"path": "speech.wav"}, setting(env, transcription="whisper"))
    assert "OPENAI_API_KEY" not in only.text


async def test_without_ffmpeg_the_missing_program_is_named(
    env: ToolEnv, whisper: Whisper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    observation = await call_tool(INSPECT_AUDIO, {"path": "speech.wav"}, env)
    assert (observation.cause, whisper.heard) == ("unavailable", [])
    assert "ffmpeg is not installed (install it with the system's package manager)" in observation.text


@pytest.fixture
def endpoint(web_server: StartServer) -> WebServer:
    reply = {"text": "x", "language": "english", "duration": 2.4, "segments": [{"id": 0, **SEGMENTS[0]}]}
    return web_server(lambda asked: Sent(json.dumps(reply), headers={"Content-Type": "application/json"}))


@pytest.fixture
def online(env: ToolEnv, endpoint: WebServer) -> ToolEnv:
    return setting(env, base_url=endpoint.url, api_key=SecretStr("key-of-a-test"))


@pytest.mark.usefixtures("no_whisper")
async def test_without_whisper_the_endpoint_transcribes_at_a_cost_counted_once(
    online: ToolEnv, endpoint: WebServer
) -> None:
    booked: list[Any] = []
    online = dataclasses.replace(online, book=booked.append)
    text = (await listen(online)).text
    assert (await listen(online)).text == text
    assert [usage["calls"] for usage in booked] == [1]
    assert "transcribed by the model whisper-1" in text
    assert "[00:00-00:01] The meeting is" in text


def test_clock() -> None:
    times = [clock(seconds) for seconds in (0, 12.4, 59.6, 3599, 3612)]
    assert times == ["00:00", "00:12", "01:00", "59:59", "1:00:12"]
