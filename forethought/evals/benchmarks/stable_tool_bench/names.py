"""How StableToolBench names categories, tools, APIs and their parameters, on the wire and in its cache."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

LONGEST = 64
"""Characters that a function's name may have."""
_FOREIGN = re.compile(r"[^\u4e00-\u9fa5^a-zA-Z0-9_]")
_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})
_INVALID = re.compile(r"[^A-Za-z0-9_-]")


def plain(name: str) -> str:
    """Lower case with single underscores for all else; `get_` before a digit. '' where nothing is left."""
    made = re.sub(r"_{2,}", "_", _FOREIGN.sub("_", name)).lower().strip("_")
    return f"get_{made}" if made[:1].isdigit() else made


def identifier(name: str) -> str:
    """The plain name of an API or parameter, with `is_` before Python's reserved words."""
    made = plain(name)
    return f"is_{made}" if made in _RESERVED else made


def category_folder(category: str) -> str:
    """A category as a folder's name."""
    made = re.sub(r"[ ,/]", "_", category)
    # Only once, as the server does it: three underscores become two.
    return made.replace("__", "_")


def function_name(api: str, tool: str) -> str:
    """An API's name as a function: its last 64 characters, `api_for_tool`."""
    return f"{identifier(api)}_for_{plain(tool)}"[-LONGEST:]


def unique(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Valid function names that differ from each other and from `taken`, in the same order; most stay."""
    made: list[str] = []
    for name in names:
        base = _INVALID.sub("_", name).strip("_") or "tool"
        chosen, number = base, 2
        while chosen in made or chosen in taken:
            ending = f"_{number}"
            chosen, number = base[: LONGEST - len(ending)] + ending, number + 1
        made.append(chosen)
    return made
