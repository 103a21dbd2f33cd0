"""The choice between full and lean prompts: lean ones are for small models and small windows."""

from __future__ import annotations

import re
from typing import Any

from forethought.sizes import LEAST_FULL_TOKENS, WINDOW_TOKENS
from forethought.state.context import Context, models_of

LEAN_WINDOW_TOKENS = 16_000
"""The window up to which a run gets lean prompts."""
SMALL_BILLIONS = 4.0
"""Billions of parameters up to which a model counts as small."""
LEAN_ATTEMPTS = 2
"""Maximum failed attempts at a subtask in a lean run."""
_PARAMETERS = re.compile(r"(?<![\w.])e?(\d+(?:\.\d+)?)([bm])(?![a-z])", re.IGNORECASE)
"""The number of parameters in a model's name, such as 135M, 0.5b and e2b."""
_SMALL_NAMES = ("smollm", "tinyllama", "phi3:mini", "phi-3-mini")


def is_small(model: str) -> bool:
    """Whether the name of a model says that it is small."""
    found = _PARAMETERS.findall(model)
    sizes = [float(number) / (1 if unit in "bB" else 1_000) for number, unit in found]
    return max(sizes) <= SMALL_BILLIONS if sizes else any(name in model.lower() for name in _SMALL_NAMES)


def why_lean(context: Context) -> str:
    """Why a run with `context` gets lean prompts; '' if it gets full ones."""
    window = context.context_tokens or WINDOW_TOKENS
    narrow = f"the window has {window:,} tokens"
    if window < LEAST_FULL_TOKENS:
        return narrow
    if context.reply_style != "auto":
        return "reply_style is lean" if context.lean else ""
    if context.effort == "paper":  # the papers' mechanisms need their fields
        return ""
    if small := next(filter(is_small, models_of(context)), None):
        return f"{small} is a small model"
    return narrow if window <= LEAN_WINDOW_TOKENS else ""


def with_style(context: Context, *, lean: bool) -> Context:
    """`context` with the style in force; a lean run has no mechanism that needs a full reply."""
    if not lean:
        return context.model_copy(update={"reply_style": "full"})
    off: dict[str, Any] = dict.fromkeys(("plan_intra", "tool_intra", "answer_intra"), False)
    attempts = min(context.max_attempts, LEAN_ATTEMPTS)
    off |= {"effort": "low", "foresight": "off", "proposals": "json", "max_attempts": attempts}
    return context.model_copy(update={"reply_style": "lean", **off})
