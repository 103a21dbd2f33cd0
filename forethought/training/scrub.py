"""Keys and passwords out of what a model is trained on: it would learn them, and say them.

The secrets of this machine are known (`forethought.redaction`). Trajectories from elsewhere hold other
people's, which are known by their shape only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from forethought.redaction import REDACTED, redactor
from forethought.settings import Settings

_SHAPES = re.compile(
    "|".join(
        (
            r"\bsk-[A-Za-z0-9_-]{20,}",
            r"\bgh[pousr]_[A-Za-z0-9]{30,}",
            r"\bgithub_pat_\w{30,}",
            r"\bglpat-[\w-]{20,}",
            r"\bhf_[A-Za-z0-9]{30,}",
            r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
            r"\bAIza[0-9A-Za-z_-]{35}",
            r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
            r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
            r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{20,}=*",
            r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        )
    ),
    re.DOTALL,
)


def training_scrubber(settings: Settings) -> Callable[[str], str]:
    """A function that blots out this machine's secrets and what has the shape of a key."""
    own = redactor(settings)
    return lambda text: _SHAPES.sub(REDACTED, own(text))
