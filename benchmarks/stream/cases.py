"""Tables, names and days for the families' tasks."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from forethought.evals.benchmarks.folders.answers import FORMS as _FORMS
from forethought.evals.benchmarks.folders.writers import Document

FORMS = {**_FORMS, "word": "One word."}
"""The form of an answer, as a task asks for it."""
SUFFIXES = ("csv", "md", "txt", "docx")
PLACES = ("Arden", "Bexley", "Corran", "Dunmore", "Elstow", "Farley", "Garth", "Hollin", "Inver", "Kelby")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_FIRST = ("Ada", "Bela", "Carla", "Dario", "Edith", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kaya", "Lars")
_LAST = ("Abel", "Brandt", "Costa", "Dorn", "Ekman", "Falk", "Grau", "Holm", "Ilves", "Juhl", "Kern", "Lund")
Rows = list[list[Any]]


@dataclass(frozen=True)
class Case:
    """A task with its files."""

    question: str
    files: Mapping[str, Document]
    answer: str
    plain: str = ""
    """The answer of a careful reader who does not know the house rule."""
    form: str = "number"


def file_of(rng: random.Random, stem: str, title: str, rows: Sequence[Sequence[Any]]) -> dict[str, Document]:
    """A file with a table, in a format drawn at random, by its name."""
    suffix = rng.choice(SUFFIXES)
    return {f"{stem.lower().replace(' ', '-')}.{suffix}": Document(title, (), rows)}


def people(rng: random.Random, number: int) -> list[str]:
    """So many people, no name twice."""
    pairs = zip(rng.sample(_FIRST, number), rng.sample(_LAST, number), strict=True)
    return [f"{first} {last}" for first, last in pairs]


def day_in(rng: random.Random, month: int) -> date:
    """A day of a month of 2026."""
    return date(2026, month, rng.randrange(1, 28))


def days_in(rng: random.Random, month: int, number: int) -> list[date]:
    """Different days of a month of 2026, in their order."""
    return [date(2026, month, day) for day in sorted(rng.sample(range(1, 29), number))]


def later(day: date, days: int) -> str:
    """A day so many days later, as YYYY-MM-DD."""
    return f"{day + timedelta(days=days):%Y-%m-%d}"


def said(day: date) -> str:
    """A day in words, such as Saturday 9 May 2026."""
    return f"{day:%A} {day.day} {day:%B %Y}"
