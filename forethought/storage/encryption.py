"""Encryption at rest with the operator's key, and the serializer of checkpoints.

LangGraph's own: AES in EAX mode (`EncryptedSerializer`), which authenticates each value, around msgpack that
builds only the classes which LangGraph calls safe.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from forethought.storage.errors import StorageError

NO_KEY = "it is encrypted: set FORETHOUGHT_ENCRYPTION_KEY to the key that it was made with"
WRONG_KEY = "FORETHOUGHT_ENCRYPTION_KEY is not the key that it was made with, or it was changed by hand"


@dataclass(frozen=True)
class Cipher(CipherProtocol):
    """LangGraph's cipher, for checkpoints, files and texts."""

    aes: CipherProtocol

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The cipher's name and the encrypted bytes."""
        return self.aes.encrypt(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """What `encrypt` was given. Raises StorageError for another key or changed bytes."""
        try:
            return self.aes.decrypt(ciphername, ciphertext)
        except (ValueError, AssertionError) as error:
            raise StorageError(WRONG_KEY) from error

    def encrypt_text(self, text: str) -> str:
        """The text, encrypted, as text for any column."""
        return base64.b64encode(self.encrypt(text.encode("utf-8", "surrogatepass"))[1]).decode()

    def decrypt_text(self, text: str) -> str:
        """What `encrypt_text` was given. Raises StorageError."""
        try:
            content = base64.b64decode(text, validate=True)
        except ValueError as error:
            raise StorageError(WRONG_KEY) from error
        return self.decrypt("aes", content).decode("utf-8", "surrogatepass")


def cipher_of(key: bytes | None) -> Cipher | None:
    """The cipher of a key; None without one. Raises StorageError when the extra is missing."""
    if key is None:
        return None
    try:
        return Cipher(EncryptedSerializer.from_pycryptodome_aes(key=key).cipher)
    except ImportError as error:
        raise StorageError(
            "encryption needs an extra: pip install 'forethought[encryption]'", wrong_use=True
        ) from error


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
