"""The transcription endpoint over real HTTP: what is uploaded, whose key goes where, what failures say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from email import message_from_bytes
from typing import Any

import pytest

from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.media.endpoint import endpoint_lacks, transcribe_online
from forethought.tools.media.sound import Sound
from forethought.tools.media.transcript import Segment
from tests.support.web_server import Asked, Sent, WebServer

Make = Callable[..., Settings]
JSON = {"Content-Type": "application/json"}
HEARD = {
    "task": "transcribe",
    "language": "english",
    "duration": 2.4,
    "text": "The meeting is on Tuesday at ten.",
    "segments": [{"id": 0, "start": 0.0, "end": 1.2, "text": " The meeting is"},
                 {"id": 1, "start": 1.2, "end": 2.4, "text": " on Tuesday at ten."}],
}  # fmt: skip


class Endpoint:
    """Gives `answers` in turn, the last for ever."""

    def __init__(self) -> None:
        self.answers: list[Sent] = [Sent(json.dumps(HEARD), headers=JSON)]
        self.web = WebServer(self._answer)

    def _answer(self, asked: Asked) -> Sent:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def uploads(self) -> list[dict[str, list[tuple[str | None, bytes]]]]:
        """The fields of each multipart upload: (file name, content) of every value."""
        return [fields(asked) for asked in self.web.asked]


def fields(asked: Asked) -> dict[str, list[tuple[str | None, bytes]]]:
    kind = next(value for name, value in asked.headers.items() if name.lower() == "content-type")
    parsed = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + asked.body)
    assert parsed.get_content_type() == "multipart/form-data"
    found: dict[str, list[tuple[str | None, bytes]]] = {}
    for part in parsed.get_payload():
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        content: Any = part.get_payload(decode=True)  # type: ignore[union-attr]
        found.setdefault(str(name), []).append((part.get_filename(), content))  # type: ignore[union-attr]
    return found


def sound(data: bytes = b"x") -> Sound:
    return Sound(data, "ogg", "speech.ogg", 60)


@pytest.fixture(autouse=True)
def no_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is sent as it is."""
    monkeypatch.setenv("PATH", "")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.web.close()


def test_the_file_is_uploaded_with_the_base_urls_own_key(
    endpoint: Endpoint, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    given = settings(
        base_url=f"{endpoint.web.url}/v1", api_key="given-by-operator", transcription_model="whisper-large"
    )
    data = bytes(range(256)) * 40
    heard = transcribe_online(sound(data), given)
    assert heard.segments == (Segment(0.0, 1.2, " The meeting is"), Segment(1.2, 2.4, " on Tuesday at ten."))
    assert (heard.seconds, heard.language, heard.by) == (2.4, "english", "the model whisper-large")
    (asked,), (upload,) = endpoint.web.asked, endpoint.uploads
    assert (asked.method, asked.path) == ("POST", "/v1/audio/transcriptions")
    assert upload["file"] == [("sound.ogg", data)]
    assert upload["model"] == [(None, b"whisper-large")]
    assert upload["response_format"] == [(None, b"verbose_json")]
    assert upload["timestamp_granularities[]"] == [(None, b"segment")]
    headers = {name.lower(): value for name, value in asked.headers.items()}
    assert headers["authorization"] == "Bearer given-by-operator"
    assert "private" not in str(headers)


def test_openais_own_endpoint_gets_openais_key(
    endpoint: Endpoint, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.web.url}/v1")  # where the SDK looks for it
    transcribe_online(sound(), settings(api_key="of-no-base-url"))
    headers = {name.lower(): value for name, value in endpoint.web.asked[0].headers.items()}
    assert headers["authorization"] == "Bearer sk-of-a-test"


def test_what_the_endpoint_lacks_is_named(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert endpoint_lacks(settings()) == "OPENAI_API_KEY is not set"
    assert "FORETHOUGHT_API_KEY" in endpoint_lacks(settings(base_url="http://127.0.0.1:1/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    assert endpoint_lacks(settings()) == ""
    assert endpoint_lacks(settings(base_url="http://127.0.0.1:1/v1")) != "", (
        "that key is not for this address"
    )
    with pytest.raises(ToolError, match="FORETHOUGHT_API_KEY"):
        transcribe_online(sound(), settings(base_url="http://127.0.0.1:1/v1"))


def test_a_server_that_tells_no_times(endpoint: Endpoint, settings: Make) -> None:
    endpoint.answers = [Sent(json.dumps({"text": "Hello."}), headers=JSON)]
    heard = transcribe_online(sound(), settings(base_url=endpoint.web.url, api_key="k"))
    assert heard.segments == (Segment(0.0, 0.0, "Hello."),)


@pytest.mark.parametrize(
    ("model", "usage", "usd", "tokens"),
    [
        ("whisper-1", {"type": "duration", "seconds": 3}, 0.006 * 2.4 / 60, 0),
        ("whisper-1", None, 0.006 * 2.4 / 60, 0),
        ("gpt-4o-transcribe", {"type": "tokens", "input_tokens": 1000, "output_tokens": 100,
                               "total_tokens": 1100}, 0.0035, 1100),
    ],
)  # fmt: skip
def test_what_it_costs_is_told(
    endpoint: Endpoint,
    settings: Make,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    usage: dict[str, Any] | None,
    usd: float,
    tokens: int,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.web.url}/v1")
    endpoint.answers = [Sent(json.dumps({**HEARD, "usage": usage}), headers=JSON)]
    [cost] = transcribe_online(sound(), settings(transcription_model=model)).unbooked
    assert cost["usd"] == pytest.approx(usd)
    assert (cost["calls"], cost["unpriced"]) == (1, 0)
    assert cost["input_tokens"] + cost["output_tokens"] == tokens


def test_a_price_that_nobody_knows_is_not_taken_for_nothing(endpoint: Endpoint, settings: Make) -> None:
    [cost] = transcribe_online(sound(), settings(base_url=endpoint.web.url, api_key="k")).unbooked
    assert (cost["calls"], cost["usd"], cost["unpriced"]) == (1, 0.0, 1)


@pytest.mark.parametrize(
    ("status", "cause", "said", "tries"),
    [
        (401, "unavailable", "the key was refused", 1),
        (404, "unavailable", "no such model or address", 1),
        (400, "unavailable", "refused the request", 1),
        (503, "transport", "no reply in 3 tries", 3),
    ],
)
def test_failures(endpoint: Endpoint, settings: Make, status: int, cause: str, said: str, tries: int) -> None:
    headers = {**JSON, "retry-after-ms": "1"}
    endpoint.answers = [Sent(json.dumps({"error": {"message": "no"}}), status, headers)]
    with pytest.raises(ToolError, match=said) as raised:
        transcribe_online(sound(), settings(base_url=endpoint.web.url, api_key="k"))
    assert (len(endpoint.web.asked), raised.value.cause) == (tries, cause)


def test_nobody_there(settings: Make) -> None:
    with pytest.raises(ToolError, match="whisper-1 gave no reply"):
        transcribe_online(sound(), settings(base_url="http://127.0.0.1:9/v1", api_key="k"))
