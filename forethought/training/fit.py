"""Rows that are too long for the model: left out by count, or cut in the trajectory's middle, visibly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from forethought.training.dataset import Row
from forethought.training.errors import TrainingError
from forethought.training.prompt import shorten

TooLong = Literal["drop", "cut"]


@dataclass(frozen=True)
class Fitted:
    """The rows that fit, and how many of the others were cut or left out."""

    rows: list[Row]
    cut: int = 0
    left_out: int = 0
    longest: int = 0
    """Tokens of the longest row."""

    def line(self) -> str:
        """The counts in a sentence; '' if all rows fit whole."""
        parts = []
        if self.cut:
            parts.append(f"{self.cut} rows too long, cut in the middle of their trajectory")
        if self.left_out:
            parts.append(f"{self.left_out} rows too long, left out")
        return "; ".join(parts)


def fit(rows: Sequence[Row], tokens: Callable[[Row], int], limit: int, too_long: TooLong) -> Fitted:
    """The rows of at most `limit` tokens, prompt and reflection together.

    Raises TrainingError where none is left.
    """
    fitting: list[Row] = []
    count = left_out = longest = 0
    for row in rows:
        text: str | None = row.user if tokens(row) <= limit else None
        if text is None and too_long == "cut":
            text = shorten(row.user, lambda user, row=row: tokens(row.with_user(user)) <= limit)  # type: ignore[misc]
            count += text is not None
        if text is None:
            left_out += 1
            continue
        fitting.append(row.with_user(text))
        longest = max(longest, tokens(fitting[-1]))
    if rows and not fitting:
        raise TrainingError(
            f"every row is longer than {limit} tokens: raise --max-length, or use --too-long cut"
        )
    return Fitted(fitting, count, left_out, longest)
