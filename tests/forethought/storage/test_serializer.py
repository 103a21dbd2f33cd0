"""What a checkpoint may hold: nothing is built from it, or executed, but what LangGraph calls safe."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Interrupt, Send

from forethought.storage import StorageError
from forethought.storage.sealing import FILE_MARK, sealer_of
from forethought.storage.serializer import ThreadSerializer
from tests.forethought.storage.conftest import KEY, OTHER_KEY

PLAIN, SEALED = ThreadSerializer(), ThreadSerializer(sealer_of(KEY))
VALUES = [
    None, "text", b"bytes", 1.5, True, [1, {"a": ["b"]}], {"messages": [HumanMessage("hi", id="1")]},
    AIMessage("yes", id="2"), Send("tool_agent", {"n": 1}), Interrupt(value={"kind": "question"}, id="x"),
    "a lone \ud800 surrogate".replace("\ud800", "?"), "NUL \0 stays",
]  # fmt: skip


@pytest.mark.parametrize("serializer", [PLAIN, SEALED], ids=["plain", "sealed"])
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_what_a_thread_holds_comes_back(serializer: ThreadSerializer, value: Any) -> None:
    assert serializer.loads_typed(serializer.dumps_typed(value)) == value


def test_a_snapshot_of_a_growing_channel_comes_back() -> None:
    read = PLAIN.loads_typed(PLAIN.dumps_typed(_DeltaSnapshot([{"n": 1}])))
    assert isinstance(read, _DeltaSnapshot)
    assert read.value == [{"n": 1}]


def packed(*parts: Any) -> bytes:
    return ormsgpack.packb(parts)


def ext(code: int, *parts: Any) -> bytes:
    """A class, as LangGraph writes one."""
    return ormsgpack.packb({"plan": ormsgpack.Ext(code, ormsgpack.packb(parts))})


def wrapped(code: int, inner: bytes) -> bytes:
    """A class in another value."""
    return ormsgpack.packb([ormsgpack.Ext(code, inner)])


class Malice:
    """Writes a file where it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self.marker,)


def test_nothing_in_a_checkpoint_is_executed(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    command = f"touch {marker}"
    reviver = (
        '{"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"], "kwargs": {}}'
    )
    forged = [
        ("msgpack", ext(0, "os", "system", command), "a class that is not read from a database: os.system"),
        ("msgpack", ext(1, "os", "system", [command]), "os.system"),
        ("msgpack", ext(2, "subprocess", "run", {"args": command}), "subprocess.run"),
        ("msgpack", ext(3, "pathlib", "Path", str(marker), "touch"), "pathlib.Path.touch"),
        ("msgpack", ext(3, "datetime", "datetime", "2026-01-01", "strptime"), "datetime.datetime.strptime"),
        ("msgpack", ext(4, "os", "system", {}), "os.system"),
        ("msgpack", ext(5, "forethought.settings", "Settings", {}, "model_validate_json"), "Settings"),
        ("msgpack", ext(6, "<i4", [1], "C", b"1234"), "holds what no thread of this program does"),
        ("msgpack", ext(77, "os", "system", command), "holds what no thread of this program does"),
        ("msgpack", ext(0, "os"), "names a class that is not read"),
        ("msgpack", ext(0, ["os"], {"a": 1}, 2), "is damaged"),
        ("msgpack", wrapped(7, ext(0, "os", "system", command)), "os.system"),
        ("msgpack", ext(0, "builtins", "set", [ormsgpack.Ext(0, packed("os", "system"))]), "names a class"),
        ("pickle", pickle.dumps(Malice(marker)), "is written in a form that is not read: 'pickle'"),
        ("json", reviver.encode(), "is written in a form that is not read: 'json'"),
        ("msgpack+aes", b"x" * 40, "it is encrypted"),
        ("msgpack+rot13", b"x", "a form that is not read"),
        ("msgpack", b"\xc1", "is damaged"),
        ("msgpack", b"", "is damaged"),
        ("msgpack", ormsgpack.packb({"a": "b" * 50})[:-9], "is damaged"),
        ("msgpack", b"\x91" * 5000 + b"\x01", "is damaged"),
        (None, b"x", "is no checkpoint of this program"),
        ("msgpack", "text", "is no checkpoint of this program"),
    ]  # fmt: skip
    for form, content, said in forged:
        with pytest.raises(StorageError) as caught:
            PLAIN.loads_typed((form, content))  # type: ignore[arg-type]
        assert said in str(caught.value), (form, content, str(caught.value))
    assert not marker.exists()


@given(st.binary(max_size=200))
def test_whatever_bytes_stand_there_are_read_or_refused(content: bytes) -> None:
    for form in ("msgpack", "null", "bytes"):
        with suppress(StorageError):
            PLAIN.loads_typed((form, content))


def test_what_is_sealed_shows_nothing_and_is_read_with_its_key_only() -> None:
    form, content = SEALED.dumps_typed({"task": "a very private task"})
    assert form == "msgpack+aes"
    assert b"private" not in content
    changed = content[:-1] + bytes([content[-1] ^ 1])
    for serializer, given_, said in [
        (ThreadSerializer(sealer_of(OTHER_KEY)), content, "is not the key"),
        (SEALED, changed, "it was changed by hand"),
        (SEALED, content[:20], "it was changed by hand"),
        (PLAIN, content, "set FORETHOUGHT_ENCRYPTION_KEY"),
    ]:
        with pytest.raises(StorageError, match=said):
            serializer.loads_typed((form, given_))
    with pytest.raises(StorageError, match="is not encrypted, as all others are"):
        SEALED.loads_typed(PLAIN.dumps_typed({"task": "slipped in"}))


def test_texts_are_sealed_with_whatever_they_hold() -> None:
    sealer = sealer_of(KEY)
    assert sealer is not None
    for text in ("", "plain", "\ud800 lone", "\0"):
        assert sealer.open_text(sealer.seal_text(text)) == text
    with pytest.raises(StorageError, match="is not the key"):
        sealer.open_text("sealed:not base64!")
    assert not sealer.seal(FILE_MARK).startswith(FILE_MARK)
