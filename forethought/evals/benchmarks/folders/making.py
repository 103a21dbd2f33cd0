"""A folder while it is made: its world, its files, and its five questions with computed answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from forethought.evals.benchmarks.folders import phrases
from forethought.evals.benchmarks.folders.writers import Document

_WORLDS = Path(__file__).resolve().parent / "worlds"
MONTHS = tuple(date(2026, month, 1) for month in range(1, 7))
Values = dict[str, str]


@dataclass(frozen=True)
class Plan:
    """The plan of a folder."""

    name: str
    world: str
    """Name of a file in `worlds`."""
    files: int
    scope: int
    """Files that the question with a judgment per file is about."""
    summed: bool = False
    """Whether that question asks for a sum, not a number of files."""
    plain: bool = False
    """Whether all files are text, so that no package's version changes a byte."""


_PLAIN = {"docx": "md", "pdf": "txt", "xlsx": "md"}
DEMO = Plan("complaints", "shop", 300, 60, plain=True)
PLANS = (
    Plan("shop-1", "shop", 200, 40),
    Plan("estate-1", "estate", 300, 60),
    Plan("lifts-1", "lifts", 400, 60, summed=True),
    Plan("courses-1", "courses", 500, 80),
    Plan("shop-2", "shop", 800, 120, summed=True),
    Plan("estate-2", "estate", 1_000, 100, summed=True),
    Plan("lifts-2", "lifts", 1_500, 150),
    Plan("courses-2", "courses", 2_000, 200, summed=True),
)


@dataclass(frozen=True)
class Question:
    """A question about a folder, and its computed answer."""

    kind: str
    text: str
    answer: str
    form: str = "number"
    """number, date or person."""


@cache
def world(name: str) -> Mapping[str, Any]:
    """The phrases of a world."""
    return yaml.safe_load((_WORLDS / f"{name}.yaml").read_text("utf-8"))  # type: ignore[no-any-return]


@dataclass
class Folder:
    """The files and questions so far."""

    plan: Plan
    rng: random.Random
    files: dict[str, Document] = field(default_factory=dict)
    """By relative path, with its format as the ending."""
    questions: list[Question] = field(default_factory=list)
    number: int = 1_000
    """The last number given to a document."""

    @property
    def world(self) -> Mapping[str, Any]:
        """The phrases."""
        return world(self.plan.world)

    def values(self, **known: str) -> Values:
        """Values that every text may name, from `known` or drawn at random."""
        rng, things = self.rng, self.world["things"]
        self.number += rng.randrange(1, 8)
        first, second = rng.sample(things, 2)
        drawn = {
            "firm": self.world["firm"],
            "no": str(self.number),
            "person": phrases.person(rng),
            "place": rng.choice(self.world["places"]),
            "thing": first,
            "other": second,
        }
        drawn |= known
        return {**drawn, "article": "an" if drawn["thing"][0] in "aeiou" else "a"}

    def text(self, phrase: str | Sequence[str], values: Mapping[str, str]) -> str:
        """A text from `phrase`; see `phrases.write`."""
        return phrases.write(self.rng, phrase, values)

    def amount(self) -> float:
        """An amount of money."""
        return self.rng.randrange(2_000, 250_000) / 100

    def prices(self, kind: str, amount: float) -> Values:
        """The amount of a document, and a price that goes with it."""
        price = amount * self.world[kind]["price_share"]
        return {"amount": phrases.euros(self.rng, amount), "price": phrases.euros(self.rng, price)}

    def date_in(self, month: date) -> date:
        """A day of a month."""
        return month + timedelta(days=self.rng.randrange(28))

    def add(
        self,
        kind: str,
        paragraphs: Sequence[str],
        values: Mapping[str, str],
        when: date,
        *,
        suffix: str = "",
        name: str = "",
        title: str = "",
        rows: Sequence[Sequence[Any]] = (),
        sent: date | None = None,
    ) -> None:
        """Add a document of a part of the world.

        Args:
            kind: The part (each, one, words, latest, sources): it says folder, names, formats and titles.
            paragraphs: The text.
            values: What names and titles may name; the person writes it.
            when: The day that the document is about.
            suffix: Its format, if not one of the part's.
            name: Its name, if not one of the part's.
            title: Its title, if not one of the part's.
            rows: A table below the text.
            sent: The day of sending, if that is another day.
        """
        part, rng = self.world[kind], self.rng
        suffix = self.suffix(suffix or rng.choice(part["suffixes"]))
        stem = self.text(name or part["names"], {**values, "day": f"{when:%Y-%m-%d}"})
        sender = f"{values['person'].lower().replace(' ', '.')}@example.org"
        made = Document(title or self.text(part["title"], values), paragraphs, rows, sender, sent or when)
        where = f"{part['folder']}/{when:%Y-%m}" if kind in ("each", "sources") else part["folder"]
        path = f"{where}/{stem[:1].lower()}{stem[1:]}.{suffix}"
        while path in self.files:
            path = f"{where}/{stem[:1].lower()}{stem[1:]}-{rng.randrange(10_000)}.{suffix}"
        self.files[path] = made

    def suffix(self, wanted: str) -> str:
        """The format of a file that is to have `wanted`."""
        return _PLAIN.get(wanted, wanted) if self.plan.plain else wanted

    def ask(
        self, kind: str, question: str, values: Mapping[str, str], answer: str, form: str = "number"
    ) -> None:
        """Add a question."""
        self.questions.append(Question(kind, self.text(question, values), answer, form))


def named(month: date) -> str:
    """A month as a question names it."""
    return f"{month:%B %Y}"


def month_after(day: date, months: int) -> date:
    """The first of a month, so many months later."""
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)
