"""How many tokens a reply may have: by its role, the window and whether the model reasons."""

from __future__ import annotations

import re
from typing import Any

_MOST = {"planner": 6_000, "tool": 6_000, "answer": 6_000, "inspector": 2_000}
_USUAL = 4_000
LEAST = 192
REASONING = 16_000
"""Room for what a model thinks before it replies."""
RAISED = 3
"""How many times its limit a reply may have that was cut off."""
_REASONS = re.compile(
    r"(^|[-_:/])(o[134]|gpt-5|gpt-oss|r1|qwq|qwen3|magistral|phi-4-reasoning|deepseek-reasoner|glm-[45])(\b|[-_.:])"
    r"|think|reason",
    re.IGNORECASE,
)
"""Names of models that reason, for servers that tell nothing of their models."""


def reply_limit(role: str, window: int) -> int:
    """Tokens of a reply of `role`: at most a sixteenth of the window, which what was read needs."""
    return max(LEAST, min(_MOST.get(role, _USUAL), window // 16))


def with_room(limit: int, window: int, name: str, profile: Any) -> int:
    """The limit as it is sent: with room for reasoning, and no more than the model can write.

    Args:
        limit: Tokens of the reply itself.
        window: The model's window.
        name: The model's name.
        profile: What the provider's package says of the model.

    Returns:
        Tokens.
    """
    if profile.get("reasoning_output") or _REASONS.search(name):
        limit += min(REASONING, window // 4)
    return min(limit, profile.get("max_output_tokens") or limit)
