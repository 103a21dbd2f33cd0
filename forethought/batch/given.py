"""What a job is given to do, as it is kept in its row: checked when it is read."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forethought.state.context import Context
from forethought.storage import StorageError
from forethought.storage.encryption import Cipher

Json = dict[str, Any]


class GivenFile(BaseModel):
    """A file of a job: see `graph.state.FileRef`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = 0
    type: str = ""


class Given(BaseModel):
    """The input of a job's graph, and its Context."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    files: tuple[GivenFile, ...]
    context: Context

    @property
    def references(self) -> list[Json]:
        """The files, as the graph takes them."""
        return [file.model_dump(exclude_unset=True) for file in self.files]


def read_given(text: str, cipher: Cipher | None) -> Given:
    """What a row holds. Raises ValueError, one line, for a row that is damaged or of another release."""
    try:
        return Given.model_validate_json(cipher.decrypt_text(text) if cipher else text)
    except StorageError as error:
        said = str(error)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
    except UnicodeDecodeError as error:
        said = str(error)
    raise ValueError(
        f"its row cannot be read ({said[:200]}): it was changed by hand, or submitted by another release; "
        "submit the task under another id"
    )


def digest_of(given: Any, key: bytes | None) -> str:
    """A hash of what is given, the same for the same thing; with a key nobody without it can tell by the hash
    what it is of."""
    data = json.dumps(given, sort_keys=True).encode()
    if key is None:
        return hashlib.sha256(data).hexdigest()
    return hmac.digest(key, b"forethought digest " + data, "sha256").hex()
