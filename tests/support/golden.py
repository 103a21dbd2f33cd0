"""Golden files: what is rendered is compared with what was looked at and kept.

`UPDATE_GOLDEN=1 pytest tests/prompts` writes them anew; the difference is then reviewed with
the change that caused it.
"""

from __future__ import annotations

import os
from pathlib import Path

UPDATE = "UPDATE_GOLDEN"


def check_golden(path: Path, text: str) -> None:
    """Compare `text` with the file, or write it where that is asked for."""
    if os.environ.get(UPDATE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.is_file(), f"{path.name} is missing: run with {UPDATE}=1 and look at what it writes"
    assert text == path.read_text(encoding="utf-8"), (
        f"{path.name} differs: if it is meant, run with {UPDATE}=1"
    )
