"""How checkpoints are written and read: msgpack of plain values, encrypted where there is a key.

A checkpoint is data. LangGraph's own reader builds whatever class a checkpoint names, and lets one that it
does not know pass as its bare data; this one refuses it, and every form but the one that is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer, _create_msgpack_ext_hook

from forethought.storage.errors import StorageError
from forethought.storage.sealing import NO_KEY, WRONG_KEY, Sealer

_FORMS = ("null", "bytes", "bytearray", "msgpack")
_DELTA_SNAPSHOT, _NUMPY, _METHOD = 7, 6, 3
_SEALED = "+aes"
_DEEPEST = 500
"""Classes in classes; LangGraph writes two."""


@dataclass(frozen=True)
class OutOfLine:
    """A text that Postgres' checkpointer would write in plain into the checkpoint's own row."""

    text: str


class ThreadSerializer:
    """LangGraph's serializer, which builds only the classes that LangGraph calls safe.

    Raises StorageError for what it does not read: another form or class, damaged bytes, another key.
    """

    def __init__(self, sealer: Sealer | None = None) -> None:
        plain = _Strict()
        self._inner = plain if sealer is None else EncryptedSerializer(sealer.cipher, plain)
        self._sealed = sealer is not None

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """See SerializerProtocol."""
        return self._inner.dumps_typed(obj.text if isinstance(obj, OutOfLine) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """See SerializerProtocol."""
        form, content = data
        if not isinstance(form, str) or not isinstance(content, bytes | bytearray | memoryview):
            raise StorageError("is no checkpoint of this program")
        name, mark, _ = form.partition("+")
        if name not in _FORMS or form not in (name, name + _SEALED):
            raise StorageError(f"is written in a form that is not read: {form[:40]!r}")
        if bool(mark) != self._sealed:
            raise StorageError("is not encrypted, as all others are" if self._sealed else NO_KEY)
        try:
            return self._inner.loads_typed((form, bytes(content)))
        except StorageError:
            raise
        except RecursionError as error:
            raise StorageError("is nested too deeply") from error
        except Exception as error:
            # Whatever a reader makes of damaged bytes; with a key it is the seal that does not hold.
            raise StorageError(WRONG_KEY if self._sealed else "is damaged") from error


def plain_bytes(sealer: Sealer | None, content: bytes) -> bytes:
    """What the serializer wrote, before it was sealed. Raises StorageError."""
    return bytes(content) if sealer is None else sealer.open(bytes(content))


class _Strict(JsonPlusSerializer):
    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        if data[0] != "msgpack":
            return super().loads_typed(data)
        refused: list[str] = []
        try:
            return ormsgpack.unpackb(data[1], ext_hook=_hook(refused), option=ormsgpack.OPT_NON_STR_KEYS)
        except ValueError:
            # ormsgpack says only that the hook failed.
            if refused:
                raise StorageError(refused[0]) from None
            raise


def _hook(refused: list[str], depth: int = 0) -> Callable[[int, bytes], Any]:
    """What is made of a class in a checkpoint; why one is not made goes to `refused`."""
    build = _create_msgpack_ext_hook(None)

    def hook(code: int, data: bytes) -> Any:
        nested = _hook(refused, depth + 1)
        if depth > _DEEPEST or code not in range(_DELTA_SNAPSHOT + 1) or code == _NUMPY:
            refused.append("holds what no thread of this program does")
            raise ValueError
        parts = ormsgpack.unpackb(data, ext_hook=nested, option=ormsgpack.OPT_NON_STR_KEYS)
        if code != _DELTA_SNAPSHOT:
            named = tuple(parts[:2]) if isinstance(parts, list | tuple) and len(parts) >= 3 else ()
            method = (*named, *parts[3:4]) if code == _METHOD and named else ()
            allowed = method in SAFE_MSGPACK_METHODS if code == _METHOD else named in SAFE_MSGPACK_TYPES
            if not allowed:
                what = ".".join(str(part)[:60] for part in method or named)
                refused.append(f"names a class that is not read from a database: {what}")
                raise ValueError
        return build(code, data)

    return hook
