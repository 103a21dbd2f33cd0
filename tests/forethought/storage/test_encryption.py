"""What a checkpoint may hold, and what is encrypted with the operator's key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.types import Interrupt, Send

from forethought.storage import StorageError
from forethought.storage.encryption import cipher_of
from forethought.storage.serializer import thread_serializer
from tests.forethought.storage.conftest import KEY, OTHER_KEY

PLAIN, ENCRYPTED = thread_serializer(), thread_serializer(cipher_of(KEY))
VALUES = [
    None, "NUL \0 stays", b"bytes", 1.5, True, [1, {"a": ["b"]}], {"messages": [HumanMessage("hi", id="1")]},
    AIMessage("yes", id="2"), Send("tool_agent", {"n": 1}), Interrupt(value={"kind": "question"}, id="x"),
    _DeltaSnapshot([{"n": 1}]),
]  # fmt: skip


@pytest.mark.parametrize("serializer", [PLAIN, ENCRYPTED], ids=["plain", "encrypted"])
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_what_a_thread_holds_comes_back(serializer: Any, value: Any) -> None:
    read = serializer.loads_typed(serializer.dumps_typed(value))
    assert getattr(read, "value", read) == getattr(value, "value", value)


@pytest.mark.parametrize("code", range(6))
def test_no_class_but_langgraphs_own_is_built(tmp_path: Path, code: int) -> None:
    marker = tmp_path / "executed"
    parts = ("os", "system", f"touch {marker}", "call")
    forged = ormsgpack.packb({"plan": ormsgpack.Ext(code, ormsgpack.packb(parts))})
    PLAIN.loads_typed(("msgpack", forged))
    assert not marker.exists()


def test_what_is_encrypted_is_read_with_its_key_only() -> None:
    form, content = ENCRYPTED.dumps_typed({"task": "a very private task"})
    assert form == "msgpack+aes"
    assert b"private" not in content
    changed = content[:-1] + bytes([content[-1] ^ 1])
    for serializer, data, message in [
        (thread_serializer(cipher_of(OTHER_KEY)), content, "is not its key"),
        (ENCRYPTED, changed, "it was changed by hand"),
        (PLAIN, content, "set FORETHOUGHT_ENCRYPTION_KEY"),
    ]:
        with pytest.raises(StorageError, match=message):
            serializer.loads_typed((form, data))


def test_texts_are_encrypted_with_whatever_they_hold() -> None:
    cipher = cipher_of(KEY)
    assert cipher is not None
    for text in ("", "plain", "\ud800 lone", "\0"):
        assert cipher.decrypt_text(cipher.encrypt_text(text)) == text
    with pytest.raises(StorageError, match="is not its key"):
        cipher.decrypt_text("not base64!")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Crypto.Cipher", None)
    with pytest.raises(StorageError, match=r"pip install .*\[encryption\]"):
        cipher_of(KEY)
