"""How to install what a feature needs beyond the core."""

from __future__ import annotations

import shlex
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]


def install_command(extra: str) -> str:
    """The pip command for one of pyproject.toml's extras, from the checkout if this runs from one."""
    if not (_CHECKOUT / "pyproject.toml").is_file():
        return f"pip install 'forethought[{extra}]'"
    place = "." if Path.cwd() == _CHECKOUT else _CHECKOUT
    return f"pip install -e {shlex.quote(f'{place}[{extra}]')}"
