"""Keys and passwords out of what a model is trained on: it would learn them, and say them.

The secrets of this machine are known (`forethought.redaction`). Trajectories from elsewhere hold other
people's, which are known by their shape only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from forethought.redaction import PROVIDER_KEY, REDACTED, redactor
from forethought.settings import Settings

_SHAPES = re.compile(
    rf"{PROVIDER_KEY.pattern}|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{{20,}}=*|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
    re.DOTALL,
)


def training_scrubber(settings: Settings) -> Callable[[str], str]:
    """A function that blots out this machine's secrets and what has the shape of a key."""
    own = redactor(settings)
    return lambda text: _SHAPES.sub(REDACTED, own(text))
