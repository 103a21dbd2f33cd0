from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from forethought.nodes.support.attachments import take_attachments
from forethought.settings import Settings
from forethought.tools.files import FilesError, FileStore
from tests.support.agent import Drive, Script, dump
from tests.support.replies import call

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
B64 = base64.b64encode(PNG).decode()
Take = Callable[..., Any]


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "blobs")


@pytest.fixture
def take(store: FileStore, settings: Callable[..., Settings]) -> Take:
    def run(*blocks: Any, taken: Any = (), **options: Any) -> tuple[list[Any], list[AnyMessage]]:
        message = HumanMessage(content=list(blocks), id="m1")
        return take_attachments([message], list(taken), store=store, settings=settings(**options))

    return run


FORMS: dict[str, tuple[dict[str, Any], str]] = {
    "standard image": ({"type": "image", "base64": B64, "mime_type": "image/jpeg"}, "attachment-1.jpg"),
    "standard audio": ({"type": "audio", "base64": B64, "mime_type": "audio/mpeg"}, "attachment-1.mp3"),
    "standard video": ({"type": "video", "base64": B64, "mime_type": "video/mp4"}, "attachment-1.mp4"),
    "standard file": (
        {"type": "file", "base64": B64, "mime_type": "application/pdf", "extras": {"filename": "bill.pdf"}},
        "bill.pdf",
    ),
    "older standard image": (
        {"type": "image", "source_type": "base64", "data": B64, "mime_type": "image/png"},
        "attachment-1.png",
    ),
    "older standard file": (
        {"type": "file", "source_type": "base64", "data": B64, "metadata": {"name": "a.xlsx"}},
        "a.xlsx",
    ),
    "OpenAI image": (
        {"type": "image_url", "image_url": {"url": f"data:image/webp;base64,{B64}", "detail": "low"}},
        "attachment-1.webp",
    ),
    "OpenAI audio": (
        {"type": "input_audio", "input_audio": {"data": B64, "format": "wav"}},
        "attachment-1.wav",
    ),
    "OpenAI file": (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{B64}"}},
        "a.pdf",
    ),
    "Anthropic image": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}},
        "attachment-1.png",
    ),
    "Anthropic document": (
        {
            "type": "document",
            "title": "bill",
            "source": {"type": "base64", "media_type": "application/pdf", "data": B64},
        },
        "bill.pdf",
    ),
    "image at a data address": ({"type": "image", "url": f"data:image/png;base64,{B64}"}, "attachment-1.png"),
    "without a type": ({"type": "image", "base64": B64}, "attachment-1.png"),
    "chat client's image": (
        {"type": "image", "mimeType": "image/png", "data": B64, "metadata": {"name": "a.png"}},
        "a.png",
    ),
    "chat client's file": (
        {"type": "file", "mime_type": "application/pdf", "data": B64, "metadata": {"filename": "a.pdf"}},
        "a.pdf",
    ),
    "file without a type or name": ({"type": "file", "base64": B64}, "attachment-1"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_block_becomes_a_file_and_only_its_name_stays(take: Take, store: FileStore, form: str) -> None:
    block, name = FORMS[form]
    text = {"type": "text", "text": "What is it?"}
    files, [message] = take(text, block)
    [file] = files
    assert (file["name"], file["size"]) == (name, len(PNG))
    assert store.get(file["hash"]) == PNG
    assert (message.id, message.text) == ("m1", "What is it?")
    kept = message.content[1]
    assert (kept["name"], kept["hash"], kept["mime_type"]) == (name, file["hash"], file["type"])
    assert B64 not in str(message)
    assert isinstance(message.content_blocks, list), "other programs can still read the message"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text-plain", "text": "Käse"},
        {"type": "text-plain", "text": "Käse", "mime_type": "text/plain"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Käse"}},
    ],
)
def test_text_that_is_attached_is_a_file_too(take: Take, store: FileStore, block: dict[str, Any]) -> None:
    [file], _ = take(block)
    assert (file["name"], store.get(file["hash"]).decode()) == ("attachment-1.txt", "Käse")


def test_names_left_out_are_numbered_past_those_of_the_thread(take: Take) -> None:
    image = {"type": "image", "base64": B64, "mime_type": "image/png"}
    audio = {"type": "audio", "base64": B64, "mime_type": "audio/wav"}
    taken = [{"name": "attachment-1.jpg", "hash": "0" * 64}]
    files, _ = take(image, audio, image, taken=taken)
    assert [file["name"] for file in files] == ["attachment-2.png", "attachment-3.wav", "attachment-4.png"]


def test_two_of_one_name_in_a_message_are_two_files(take: Take) -> None:
    block = {"type": "file", "base64": B64, "filename": "a.pdf"}
    files, _ = take(
        block, {**block, "base64": base64.b64encode(b"%PDF-").decode()}, taken=[{"name": "a.pdf"}]
    )
    assert [file["name"] for file in files] == ["a.pdf", "a (2).pdf"]


def test_messages_without_attachments_and_other_peoples_are_left_alone(
    store: FileStore, settings: Callable[..., Settings]
) -> None:
    image = {"type": "image", "base64": B64}
    messages: list[AnyMessage] = [
        HumanMessage("words", id="1"),
        HumanMessage([{"type": "text", "text": "words"}, "more", {"type": "other"}], id="2"),
        AIMessage([image], id="3"),
    ]
    assert take_attachments(messages, [], store=store, settings=settings()) == ([], [])


def test_a_message_that_was_taken_in_has_nothing_more_to_take(
    take: Take, store: FileStore, settings: Callable[..., Settings]
) -> None:
    _, replaced = take({"type": "image", "base64": B64})
    assert take_attachments(replaced, [], store=store, settings=settings()) == ([], [])


PASSWD = "/etc/passwd"


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ({"type": "image", "url": "https://example.org/a.png"}, "has no content"),
        ({"type": "image_url", "image_url": {"url": "http://169.254.169.254/"}}, "has no content"),
        ({"type": "image_url", "image_url": "file:///etc/passwd"}, "has no content"),
        (
            {"type": "file", "url": f"file://{PASSWD}", "filename": "passwd"},
            "file block passwd has no content",
        ),
        ({"type": "file", "path": PASSWD, "filename": "../../etc/passwd"}, "has no content"),
        ({"type": "file", "file": {"file_id": "file-123"}}, "has no content"),
        ({"type": "image", "source": {"type": "url", "url": f"file://{PASSWD}"}}, "has no content"),
        ({"type": "image", "base64": ""}, "block has no content"),
        ({"type": "image", "base64": [PASSWD]}, "not valid base64"),
        ({"type": "image_url", "image_url": ["x"]}, "block has no content"),
        ({"type": "image", "base64": PASSWD}, "not valid base64"),
        ({"type": "image", "url": "data:image/png;base64,@@"}, "not valid base64"),
        ({"type": "image", "base64": base64.b64encode(bytes(2000)).decode()}, "larger than 0.001 MB"),
        ({"type": "text-plain", "text": "x" * 2000}, "larger than 0.001 MB"),
    ],
)
def test_what_is_not_content_is_refused_in_one_line(take: Take, block: dict[str, Any], says: str) -> None:
    """Nothing is fetched and no path is followed, whatever a client writes into a block."""
    with pytest.raises(FilesError, match=says) as raised:
        take(block, max_file_mb=0.001)
    assert "\n" not in str(raised.value)
    assert "root:" not in str(raised.value)


KEYS = st.sampled_from(
    "url base64 data file source image_url text mime_type filename metadata type".split()  # noqa: SIM905
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["/etc/passwd", "data:,x", "data:", "eA==", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(["image", "image_url", "input_audio", "file", "document"]),
    rest=st.dictionaries(KEYS, JSON),
)
def test_no_block_breaks_anything(take: Take, store: FileStore, kind: str, rest: dict[str, Any]) -> None:
    try:
        files, _ = take({**rest, "type": kind})
    except FilesError:
        return
    assert all(b"root:" not in store.get(file["hash"]) for file in files)


async def test_an_attachment_can_be_read_by_its_name_and_leaves_the_conversation(drive: Drive) -> None:
    data = base64.b64encode(b"Tea costs EUR 3.").decode()
    blocks = [
        {"type": "text", "text": "What does tea cost?"},
        {"type": "file", "base64": data, "mime_type": "text/plain", "extras": {"filename": "prices.txt"}},
    ]
    arguments = {"path": "prices.txt", "part": None, "question": None}
    script = Script(moves={"a": [{**call("a"), "tool": "read_file", "arguments": arguments}]})
    out = await drive(script, task={"messages": [{"role": "user", "content": blocks}]})
    assert out.status == "answered"
    assert out.state["task"] == "What does tea cost?"
    assert "Tea costs EUR 3." in out.steps[0]["observation"]
    assert [(file["name"], file["type"]) for file in out.state["files"]] == [("prices.txt", "text/plain")]
    assert "prices.txt" in out.asked("Plan")[0].text
    assert [kind for kind, _ in out.talk] == ["human", "ai"]
    assert data not in dump(out.state) + str(out.state["messages"])
    assert out.state["progress"]["task"] == 1, "the message replaced is not taken for the next task"


async def test_attachments_of_earlier_messages_and_of_a_second_task_are_there(drive: Drive) -> None:
    image = {"type": "image", "base64": B64, "mime_type": "image/png"}
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Look."}, image]},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "What is it?"},
    ]
    out = await drive(Script(), task={"messages": history})
    assert out.state["task"] == "What is it?"
    assert [file["name"] for file in out.state["files"]] == ["attachment-1.png"]
    await out.go({"messages": [{"role": "user", "content": [{"type": "text", "text": "And this?"}, image]}]})
    assert [file["name"] for file in out.state["files"]] == ["attachment-1.png", "attachment-2.png"]
    assert B64 not in str(out.state["messages"])
    assert [m.text for m in out.state["messages"] if m.type == "human"] == [
        "Look.",
        "What is it?",
        "And this?",
    ]
