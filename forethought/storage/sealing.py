"""Encryption at rest with the operator's key: AES in EAX mode, by LangGraph's own EncryptedSerializer.

EAX authenticates: what somebody has changed, or sealed with another key, is not read. What is not covered is
where a sealed value stands: who can write to the database can put an older one in a newer one's place.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forethought.storage.errors import StorageError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import CipherProtocol

MARK = "sealed:"
"""How a sealed text begins."""
FILE_MARK = b"forethought-sealed-1\n"
"""How a sealed file begins."""
NO_KEY = "it is encrypted: set FORETHOUGHT_ENCRYPTION_KEY to the key that it was made with"
WRONG_KEY = "FORETHOUGHT_ENCRYPTION_KEY is not the key that it was made with, or it was changed by hand"


@dataclass(frozen=True)
class Sealer:
    """Seals bytes and texts, and opens them again."""

    cipher: CipherProtocol

    def seal(self, data: bytes) -> bytes:
        """The bytes, encrypted."""
        return self.cipher.encrypt(data)[1]

    def open(self, data: bytes) -> bytes:
        """What `seal` was given. Raises StorageError where it was not this key, or the bytes were changed."""
        try:
            return self.cipher.decrypt("aes", data)
        except (ValueError, AssertionError) as error:
            raise StorageError(WRONG_KEY) from error

    def seal_text(self, text: str) -> str:
        """The text, encrypted, as text that any column holds."""
        return MARK + base64.b64encode(self.seal(text.encode("utf-8", "surrogatepass"))).decode()

    def open_text(self, text: str) -> str:
        """What `seal_text` was given. Raises StorageError."""
        try:
            data = base64.b64decode(text.removeprefix(MARK), validate=True)
        except ValueError as error:
            raise StorageError(WRONG_KEY) from error
        return self.open(data).decode("utf-8", "surrogatepass")


def sealer_of(key: bytes | None) -> Sealer | None:
    """The sealer of a key; None without one. Raises StorageError when the extra is missing."""
    if key is None:
        return None
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

    try:
        return Sealer(EncryptedSerializer.from_pycryptodome_aes(key=key).cipher)
    except ImportError as error:
        raise StorageError(
            "encryption needs an extra: pip install 'forethought[encryption]'", wrong_use=True
        ) from error
