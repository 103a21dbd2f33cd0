"""How many tokens a reply may have: by its role, the window and whether the model reasons."""

from __future__ import annotations

import re
from typing import Any

from forethought.models.forms import SMALL_WINDOW

_MOST = {"planner": 6_000, "tool": 6_000, "answer": 6_000, "inspector": 2_000}
_USUAL = 4_000
_SHARE = 16
"""Parts of the window; one is for the reply."""
_SMALL_SHARES = {"answer": 16, "planner": 20}
_SMALL_SHARE = 24
"""The same for a small window, whose replies are lean."""
LEAST = 192
REASONING = 16_000
"""Room for the thoughts of a model before its reply."""
RAISED = 3
"""How many times its limit a reply may have that was cut off."""
_REASONS = re.compile(
    r"(^|[-_:/])(o[134]|gpt-5|gpt-oss|r1|qwq|qwen3|magistral|phi-4-reasoning|deepseek-reasoner|glm-[45])(\b|[-_.:])"
    r"|think|reason",
    re.IGNORECASE,
)
"""Names of models that reason, for servers that tell nothing of their models."""


def reply_limit(role: str, window: int) -> int:
    """Tokens of a reply of `role`: a small part of the window, so that files and steps fit too."""
    share = _SHARE if window > SMALL_WINDOW else _SMALL_SHARES.get(role, _SMALL_SHARE)
    return max(LEAST, min(_MOST.get(role, _USUAL), window // share))


def with_room(limit: int, window: int, name: str, profile: Any) -> int:
    """The limit as it is sent: with room for reasoning, and no more than the model can write.

    Args:
        limit: Tokens of the reply itself.
        window: The model's window.
        name: The model's name.
        profile: The model's profile in the provider's package.

    Returns:
        Tokens.
    """
    if profile.get("reasoning_output") or _REASONS.search(name):
        limit += min(REASONING, window // 4)
    return min(limit, profile.get("max_output_tokens") or limit)
