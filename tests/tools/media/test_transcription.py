"""The transcription endpoint over real HTTP: uploads, keys, costs and failures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.media.sound import Segment, Sound
from forethought.tools.media.transcription import endpoint_lacks, transcribe_online
from tests.support.web_server import Asked, Sent, WebServer

Make = Callable[..., Settings]
JSON = {"Content-Type": "application/json"}
REPLY = {
    "language": "english",
    "duration": 2.4,
    "text": "The meeting is on Tuesday at ten.",
    "segments": [{"id": 0, "start": 0.0, "end": 1.2, "text": " The meeting is"},
                 {"id": 1, "start": 1.2, "end": 2.4, "text": " on Tuesday at ten."}],
}  # fmt: skip
SOUND = Sound(bytes(range(256)) * 40, "ogg", "speech.ogg", 60)


class Endpoint(WebServer):
    """A transcription server that sends `reply`."""

    def __init__(self) -> None:
        self.reply = Sent(json.dumps(REPLY), headers=JSON)
        super().__init__(lambda request: self.reply)


def headers(request: Asked) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


pytestmark = pytest.mark.usefixtures("ffmpeg_stand_in")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    yield server
    server.close()


@pytest.fixture
def openai(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """Return an endpoint that stands for OpenAI's own, with its key."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")  # where the SDK looks for it
    return endpoint


def test_the_file_is_uploaded_with_the_base_urls_own_key(
    endpoint: Endpoint, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    options = {"base_url": f"{endpoint.url}/v1", "api_key": "of-operator"}
    transcript = transcribe_online(SOUND, settings(**options, transcription_model="whisper-large"))
    assert transcript.segments == (
        Segment(0.0, 1.2, " The meeting is"),
        Segment(1.2, 2.4, " on Tuesday at ten."),
    )
    assert (transcript.seconds, transcript.language) == (2.4, "english")
    assert transcript.by == "the model whisper-large"
    (request,) = endpoint.asked
    assert (request.method, request.path) == ("POST", "/v1/audio/transcriptions")
    for field in (b'filename="sound.mp3"', b"whisper-large", b"verbose_json", b"segment"):
        assert field in request.body
    assert b"speech" not in request.body, "the file's own name stays here"
    assert bytes(9600) in request.body
    assert headers(request)["authorization"] == "Bearer of-operator"
    assert "private" not in str(headers(request))


def test_a_missing_key_is_named(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = settings(base_url="http://127.0.0.1:1/v1")
    assert endpoint_lacks(settings()) == "OPENAI_API_KEY is not set"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    assert endpoint_lacks(settings()) == ""
    assert "FORETHOUGHT_API_KEY" in endpoint_lacks(elsewhere), "OpenAI's key is not for this address"


def test_a_reply_without_times_is_one_segment(endpoint: Endpoint, settings: Make) -> None:
    endpoint.reply = Sent(json.dumps({"text": "Hello."}), headers=JSON)
    transcript = transcribe_online(SOUND, settings(base_url=endpoint.url, api_key="k"))
    assert transcript.segments == (Segment(0.0, 0.0, "Hello."),)
    [cost] = transcript.unbooked
    assert (cost["calls"], cost["usd"], cost["unpriced"]) == (1, 0.0, 1), "no price is known"


@pytest.mark.parametrize(
    ("model", "usage", "usd", "tokens"),
    [
        ("whisper-1", None, 0.006 * 2.4 / 60, 0),
        ("gpt-4o-transcribe", {"type": "tokens", "input_tokens": 1000, "output_tokens": 100,
                               "total_tokens": 1100}, 0.0035, 1100),
    ],
)  # fmt: skip
def test_the_cost_is_counted_by_time_or_by_tokens(
    openai: Endpoint, settings: Make, model: str, usage: dict[str, Any] | None, usd: float, tokens: int
) -> None:
    openai.reply = Sent(json.dumps({**REPLY, "usage": usage}), headers=JSON)
    [cost] = transcribe_online(SOUND, settings(api_key="of-no-base-url", transcription_model=model)).unbooked
    assert headers(openai.asked[0])["authorization"] == "Bearer sk-private"
    assert cost["usd"] == pytest.approx(usd)
    assert (cost["calls"], cost["unpriced"]) == (1, 0)
    assert cost["input_tokens"] + cost["output_tokens"] == tokens


@pytest.mark.parametrize(
    ("status", "cause", "message", "tries"),
    [
        (401, "unavailable", "the key was refused", 1),
        (404, "unavailable", "no such model or address", 1),
        (400, "unavailable", "refused the request", 1),
        (503, "transport", "no reply in 3 tries", 3),
    ],
)
def test_failures_of_the_endpoint(
    endpoint: Endpoint, settings: Make, status: int, cause: str, message: str, tries: int
) -> None:
    body = json.dumps({"error": {"message": "no"}})
    endpoint.reply = Sent(body, status, {**JSON, "retry-after-ms": "1"})
    with pytest.raises(ToolError, match=message) as raised:
        transcribe_online(SOUND, settings(base_url=endpoint.url, api_key="k"))
    assert (len(endpoint.asked), raised.value.cause) == (tries, cause)
