"""Messages with images: as the provider gets them, when it cannot see, and in recordings."""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as PIL
from pydantic import BaseModel

from forethought.models import (
    ConfigurationError,
    Image,
    Message,
    Models,
    RecordingTransport,
    ReplayError,
    ReplayTransport,
    ReplyError,
    ReplyResult,
    TransportError,
    reply_spec,
)
from forethought.models.live import LiveTransport
from forethought.models.methods import langchain_messages
from forethought.settings import Settings
from forethought.tools.media.picture import prepare
from tests.forethought.models.conftest import Serve
from tests.support.model_server import Fault, ModelServer, SeenRequest, script

Start = Callable[..., ModelServer]
Make = Callable[..., Settings]


class Seen(BaseModel):
    colour: str


def picture(colour: str = "red") -> Image:
    out = io.BytesIO()
    PIL.new("RGB", (3000, 1500), colour).save(out, "PNG")
    made = prepare(out.getvalue())
    return Image(made.mime, made.data, hashlib.sha256(out.getvalue()).hexdigest())


async def ask(models: Models, *images: Image, model: str = "openai:gpt-4.1") -> ReplyResult[Seen]:
    messages = [Message("system", "You look."), Message("user", "Which colour?", images)]
    return await models.ask(role="inspector", model=model, messages=messages, reply=reply_spec(Seen))


def urls(seen: SeenRequest) -> list[str]:
    """The image addresses of the last message."""
    content = seen.body["messages"][-1]["content"]
    return [part["image_url"]["url"] for part in content if part["type"] == "image_url"]


@pytest.mark.parametrize("refuses", [(), ("schema",), ("schema", "function")])
async def test_the_server_gets_a_real_picture_of_moderate_size(
    serve: Serve, refuses: tuple[str, ...]
) -> None:
    models, server = serve({"colour": "red"}, refuses=refuses)
    assert (await ask(models, picture())).reply.colour == "red"
    seen = server.requests[-1]
    (url,) = urls(seen)
    head, _, encoded = url.partition(",")
    assert head == "data:image/png;base64"
    image = PIL.open(io.BytesIO(base64.b64decode(encoded, validate=True)))
    assert (image.size, image.getpixel((9, 9))) == ((2048, 1024), (255, 0, 0))
    assert seen.messages[0] == ("system", "You look.")
    assert seen.last.startswith("Which colour?")
    assert isinstance(seen.body["messages"][0]["content"], str)


async def test_a_repaired_question_still_shows_the_picture(serve: Serve) -> None:
    models, server = serve("no JSON", {"colour": "red"})
    assert (await ask(models, picture())).repairs == 1
    assert len(server.requests[1].body["messages"][1]["content"]) == 2


def test_another_provider_gets_langchains_own_block_which_its_package_translates() -> None:
    from langchain_google_genai.chat_models import _parse_chat_history

    image = picture()
    messages = langchain_messages((Message("user", "Which colour?", (image,)),))
    assert messages[0].content[1]["type"] == "image"
    _, history = _parse_chat_history(messages, model="gemini-2.5-flash")
    text, shown = history[0].parts
    assert text.text == "Which colour?"
    assert (shown.inline_data.mime_type, shown.inline_data.data) == (image.mime, image.data)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("400", "Invalid content type. image_url is only supported by certain models."),
        ("404", "No endpoints found that support image input"),
        ("500", "image input is not supported - hint: you may need to provide the mmproj"),
    ],
)
async def test_a_model_without_eyes_is_named_with_what_to_do(serve: Serve, status: str, message: str) -> None:
    models, _ = serve(Fault(status, message=message), request_retries=1)
    with pytest.raises(ReplyError, match=r"openai:gpt-4.1 took no image .*set vision_model") as raised:
        await ask(models, picture())
    assert message in str(raised.value)
    assert raised.value.usage["calls"] == 1
    with pytest.raises((ConfigurationError, TransportError), match=f"HTTP {status}"):
        await ask(models)


async def test_a_profile_that_says_no_images_saves_the_call(
    settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with pytest.raises(ReplyError, match=r"openai:gpt-3\.5-turbo took no image"):
        await ask(Models(settings()), picture(), model="openai:gpt-3.5-turbo")


async def test_behind_a_base_url_the_name_of_a_model_says_nothing(serve: Serve) -> None:
    models, _server = serve({"colour": "red"})
    got = await ask(models, picture(), model="openai:gpt-3.5-turbo")
    assert got.reply.colour == "red"


async def test_a_recording_knows_an_image_by_its_hash_and_holds_none_of_its_bytes(
    model_server: Start, settings: Make, tmp_path: Path
) -> None:
    given = settings(model_server(script({"colour": "red"})))
    path = tmp_path / "run.jsonl"
    image = picture()
    await ask(Models(given, RecordingTransport(LiveTransport(given), path, {"task": "t"})), image)
    text = path.read_text()
    assert base64.b64encode(image.data).decode()[:60] not in text
    (line,) = [json.loads(line) for line in text.splitlines() if '"key"' in line]
    assert line["messages"][1]["images"] == [{"mime": "image/png", "sha256": image.sha256}]
    assert "images" not in line["messages"][0]
    replay = Models(settings(), ReplayTransport(path))
    assert (await ask(replay, image)).reply.colour == "red"
    scaled_elsewhere = Image(image.mime, b"other bytes of the same file", image.source)
    assert (await ask(replay, scaled_elsewhere)).reply.colour == "red"
    for other in ((picture("blue"),), (), (image, image)):
        with pytest.raises(ReplayError):
            await ask(replay, *other)
