"""A file of JSON lines that one process appends to, and that a kill may leave with half a line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line, and have it on the disk. Raises OSError, and ValueError for what is no JSON."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    with path.open("ab") as file:
        file.write(line.encode("utf-8", "replace") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def mend(path: Path) -> None:
    """End the file with a whole line: half a last one is dropped. Raises OSError."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        data = file.read()
        torn = data.rpartition(b"\n")[2]
        if not torn:
            return
        try:
            json.loads(torn)
        except (ValueError, RecursionError):
            file.truncate(len(data) - len(torn))
        else:
            file.write(b"\n")
