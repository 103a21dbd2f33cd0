"""Rows that are too long for the model: left out by count, or cut in the trajectory's middle, visibly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from forethought.training.dataset import Row
from forethought.training.errors import TrainingError
from forethought.training.prompt import shorten

TooLong = Literal["drop", "cut"]


@dataclass(frozen=True)
class Fitted:
    """The rows that fit, and what became of the others (their trajectory ids)."""

    rows: list[Row]
    cut: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    longest: int = 0
    """Tokens of the longest row that is kept."""

    def line(self) -> str:
        """What there is to say about it, in a sentence; '' for nothing."""
        parts = []
        if self.cut:
            parts.append(f"{len(self.cut)} rows too long, cut in the middle of their trajectory")
        if self.left_out:
            parts.append(f"{len(self.left_out)} rows too long, left out")
        return "; ".join(parts)


def fit(rows: Sequence[Row], tokens: Callable[[Row], int], limit: int, too_long: TooLong) -> Fitted:
    """The rows of at most `limit` tokens, prompt and reflection together.

    Raises TrainingError where none is left.
    """
    fitted = Fitted([])
    longest = 0
    for row in rows:
        text: str | None = row.user if tokens(row) <= limit else None
        if text is None and too_long == "cut":
            text = shorten(row.user, lambda user, row=row: tokens(row.with_user(user)) <= limit)  # type: ignore[misc]
            if text is not None:
                fitted.cut.append(row.trajectory_id)
        if text is None:
            fitted.left_out.append(row.trajectory_id)
            continue
        fitting = row.with_user(text)
        fitted.rows.append(fitting)
        longest = max(longest, tokens(fitting))
    if rows and not fitted.rows:
        raise TrainingError(
            f"every row is longer than {limit} tokens: raise --max-length, or use --too-long cut"
        )
    return Fitted(fitted.rows, fitted.cut, fitted.left_out, longest)
