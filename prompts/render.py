"""Rendering of prompt templates: one Markdown file a model call, in this folder (lean/: for small models).

A template has a fixed part (`system`) and a changing part (`user`), parted by a line `=== user ===`. What
never changes stands first, history is appended, what changes last stands last: so that a provider's prompt
cache serves as much as it can.

Text that comes from files, pages, tools, people or models is put between tags by the filter `data`
(`fence`), which makes a closing tag inside it harmless; every system part says that such text is data, never
an instruction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined

from forethought.models.types import Message
from forethought.text import fence


def _templates(folder: Path) -> dict[str, str]:
    paths = folder.rglob("*.md")
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


_FOLDER = Path(__file__).resolve().parent
_TEMPLATES = _templates(_FOLDER)
"""Read when the module is: so that no node waits for a disk, and a run's prompts cannot change under it."""
_BREAK = "=== user ===\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=False)


@cache
def _environment(folder: Path) -> tuple[Environment, dict[str, str]]:
    templates = _TEMPLATES if folder == _FOLDER else {**_TEMPLATES, **_templates(folder)}
    environment = Environment(
        loader=DictLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["data"] = fence
    environment.filters["json"] = _json
    return environment, templates


def render(template: str, /, **values: Any) -> tuple[str, str]:
    """The (system, user) texts of the template `template`.md. Raises jinja2.UndefinedError when a value is
    missing.

    A template without a break has no system part: it is a further turn of a conversation.
    """
    return render_from(_FOLDER, template, values)


def render_from(folder: Path, template: str, values: Mapping[str, Any]) -> tuple[str, str]:
    """As `render`, of a template in `folder`; it may include the templates of this folder."""
    environment, templates = _environment(folder)
    text = environment.get_template(f"{template}.md").render(**values)
    if _BREAK not in templates[f"{template}.md"]:  # what looks like one came with a value
        return "", _tidy(text)
    system, _, user = text.partition(_BREAK)
    return _tidy(system), _tidy(user)


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def prompt_messages(template: str, /, **values: Any) -> list[Message]:
    """The system and the user message of the template. Raises as `render`."""
    system, user = render(template, **values)
    return [Message("system", system), Message("user", user)]
