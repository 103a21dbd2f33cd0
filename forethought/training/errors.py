"""What can go wrong with data, models and gates in a way that a person can mend."""

from __future__ import annotations


class TrainingError(ValueError):
    """One line that says what is wrong and what to do."""

    def __init__(self, line: str) -> None:
        super().__init__(" ".join(line.split()))
