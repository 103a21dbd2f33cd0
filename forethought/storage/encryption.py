"""Encryption at rest with the operator's key: LangGraph's AES in EAX mode, which authenticates each value."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forethought.extras import install_command
from forethought.storage.errors import StorageError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import CipherProtocol

NO_KEY = "it is encrypted: set FORETHOUGHT_ENCRYPTION_KEY to its key"
WRONG_KEY = "FORETHOUGHT_ENCRYPTION_KEY is not its key, or it was changed by hand; set the right key"


@dataclass(frozen=True)
class Cipher:
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
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

    try:
        return Cipher(EncryptedSerializer.from_pycryptodome_aes(key=key).cipher)
    except ImportError as error:
        raise StorageError(
            f"encryption needs pycryptodome: {install_command('encryption')}", wrong_use=True
        ) from error
