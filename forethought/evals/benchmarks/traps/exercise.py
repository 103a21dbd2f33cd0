"""What an exercise is, the kinds there are, and the words that all of them draw from."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forethought.evals.types import EarlierTask

NUMBER = "A number without unit or separators."


@dataclass(frozen=True)
class Exercise:
    """A task over files, and its computed answer."""

    question: str
    answer: str = ""
    """'' if any best plan is right."""
    wrong: str = ""
    """What the plain reading gives, or for a follow-up its question alone ('' no such answer)."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Content by name."""
    answer_format: str = NUMBER
    earlier: tuple[EarlierTask, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts that judge a plan, plain JSON; {} if the answer is compared with `answer`."""


Maker = Callable[[random.Random], Exercise]
TRAPS: dict[str, Maker] = {}
"""By kind: the plain reading is wrong."""
TRIVIAL: dict[str, Maker] = {}
"""By kind: no file is needed, or one plain reading of one file."""
FOLLOW_UPS: dict[str, Maker] = {}
"""By kind: the question takes what it asks for from earlier tasks of the conversation."""
HARD: dict[str, Maker] = {}
"""By kind: much material, and rules that interact."""
TOWNS = ("Aarhus", "Bergen", "Coimbra", "Dijon", "Evora", "Fulda", "Gdansk", "Haarlem", "Izola", "Jena")
PEOPLE = (
    "Amira Haddad", "Bo Lindqvist", "Carla Nunes", "Dmitri Orlov", "Ewa Kowalska", "Femi Adeyemi",
    "Greta Vogel", "Hiro Tanaka", "Ines Roldan", "Jonas Weber", "Katya Petrova", "Liam Byrne",
)  # fmt: skip
GOODS = ("lamp", "desk", "chair", "shelf", "stool", "bench", "cabinet", "mirror", "rug", "clock")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def register(makers: dict[str, Maker]) -> Callable[[Maker], Maker]:
    """Decorate the maker of a kind, which bears its name."""

    def add(maker: Maker) -> Maker:
        makers[maker.__name__] = maker
        return maker

    return add


trap, trivial, follow_up = register(TRAPS), register(TRIVIAL), register(FOLLOW_UPS)
hard = register(HARD)
