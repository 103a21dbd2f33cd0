"""The serializer of checkpoints: msgpack that builds only the classes which LangGraph calls safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from forethought.storage.encryption import NO_KEY, Cipher
from forethought.storage.errors import StorageError


@dataclass(frozen=True)
class OutOfLine:
    """A text that Postgres' checkpointer would write in plain into the checkpoint's own row."""

    text: str


class _StrictSerializer(JsonPlusSerializer):
    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return super().dumps_typed(obj.text if isinstance(obj, OutOfLine) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if "+" in data[0]:
            raise StorageError(NO_KEY)
        return super().loads_typed(data)


def thread_serializer(cipher: Cipher | None = None) -> SerializerProtocol:
    """The serializer of checkpoints, encrypting where there is a key."""
    strict = _StrictSerializer()
    return strict if cipher is None else EncryptedSerializer(cipher, strict)
