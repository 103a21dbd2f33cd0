"""Sentences from composable phrases, and people's forms of dates and amounts."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import date

FIRST = (
    "Amira", "Bo", "Carla", "Dmitri", "Ewa", "Femi", "Greta", "Hiro", "Ines", "Jonas", "Katya", "Liam",
    "Mara", "Nils", "Olga", "Pedro", "Rania", "Sven", "Tilda", "Uma", "Viktor", "Wanda", "Yusuf", "Zoe",
)  # fmt: skip
LAST = (
    "Haddad", "Lindqvist", "Nunes", "Orlov", "Kowalska", "Adeyemi", "Vogel", "Tanaka", "Roldan", "Weber",
    "Petrova", "Byrne", "Castell", "Dupont", "Eriksen", "Farrugia", "Grieg", "Horvat", "Ivanova", "Jansen",
    "Keller", "Lambert", "Moreau", "Nowak", "Osei", "Papadakis", "Quinn", "Rossi", "Sand", "Toth",
)  # fmt: skip
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"\{(\w+)\}")
_SENTENCE = re.compile(r"(?:^|(?<=[.!?] ))[a-z]")
_DAYS = (
    "{d.day} {d:%B} {d.year}",
    "{d:%B} {d.day}, {d.year}",
    "{d:%d.%m.%Y}",
    "{d:%Y-%m-%d}",
    "{d.day} {d:%b} {d.year}",
)
_SUMS = ("{:,.2f} euros", "EUR {:,.2f}", "€{:,.2f}", "{} EUR", "{} €")


def write(rng: random.Random, text: str | Sequence[str], values: Mapping[str, str]) -> str:
    """`text`, or one of several: {name} is replaced by its value, and [a|b] by one of the two.

    People ({person}, {surname}) and {n}, a small number, are drawn anew if `values` does not name them.
    """
    said = text if isinstance(text, str) else rng.choice(text)
    while match := _CHOICE.search(said):
        said = said[: match.start()] + rng.choice(match[1].split("|")) + said[match.end() :]

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return values[name]
        drawn = {"surname": rng.choice(LAST), "n": str(rng.randrange(2, 40))}
        return drawn.get(name) or person(rng)

    return _SENTENCE.sub(lambda match: match[0].upper(), " ".join(_NAME.sub(value, said).split()))


def person(rng: random.Random) -> str:
    """First name and surname."""
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def day(rng: random.Random, value: date) -> str:
    """A date in one of the usual forms."""
    return rng.choice(_DAYS).format(d=value)


def euros(rng: random.Random, value: float) -> str:
    """An amount in one of the usual forms, with decimal point or comma."""
    form = rng.choice(_SUMS)
    swapped = f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    return form.format(swapped) if form.startswith("{} ") else form.format(value)
