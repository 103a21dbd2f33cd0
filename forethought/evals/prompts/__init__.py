"""Prompts of the evaluations: baselines, judges and simulated users; one Markdown file a model call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forethought.prompts.render import render_from

_FOLDER = Path(__file__).resolve().parent


def render(template: str, /, **values: Any) -> tuple[str, str]:
    """The (system, user) texts of a template of this folder; see forethought.prompts.render."""
    return render_from(_FOLDER, template, values)
