"""What the comparisons share: counting where two scorers agree, and answers that are nearly right."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from forethought.evals.types import Services
from forethought.models.ask import Models
from forethought.models.types import Transport
from forethought.settings import Settings


@dataclass
class Comparison:
    """Results of an official function and of ours on the same predictions."""

    title: str
    compared: int = 0
    positive: int = 0
    """Equal results that are not zero: agreement on wrong answers alone would say little."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Of differences."""
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, official: Any, ours: Any, case: object, reason: str = "unexplained") -> None:
        """Count one prediction; `reason` explains the difference, if there is one."""
        self.compared += 1
        if official == ours:
            self.positive += bool(ours)
            return
        self.reasons[reason] += 1
        self.examples.setdefault(reason, f"official {official!r}, ours {ours!r}: {str(case)[:200]!r}")

    def print(self) -> None:
        """The figures, and every reason with its count and an example."""
        differ = self.reasons.total()
        equal = self.compared - differ
        agree = f"{equal} agree ({self.positive} not zero)"
        print(f"{self.title}: {self.compared} compared, {agree}, {differ} differ", flush=True)
        for reason, count in self.reasons.most_common():
            print(f"  {count} x {reason}; such as {self.examples[reason]}")


def official_module(file: Path, name: str) -> ModuleType:
    """The Python module in `file`, imported under `name`. Ends the script when it is not there."""
    if not file.is_file():
        raise SystemExit(f"{file}: not found; is the checkout whole?")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def near_misses(text: str, others: Sequence[str], rng: random.Random) -> list[str]:
    """`text` as it is, and dressed otherwise, damaged, or mixed with one of `others`."""
    parts = text.split("\n") if "\n" in text else text.split(" ")
    between = "\n" if "\n" in text else " "
    at, other = rng.randrange(len(parts)), rng.choice(others)
    return [
        text,
        f"The {text.upper()}.",
        f" {text.lower()},\tas far as known ",
        between.join(rng.sample(parts, len(parts))),
        between.join(parts[: max(1, len(parts) // 2)]),
        between.join(parts[:at] + parts[at + 1 :]),
        f"{text}{between}{other}",
        f"{other}{between}{text}",
        other,
        text.replace("*", "").replace(",", ";"),
        text.replace("-", "\u2013").replace("e", "\u00e9"),
        f"**{text}**",
        "".join(rng.choice("aethno .,'-$%19\u2019\u0130\u00df") for _ in range(rng.randrange(20))),
        rng.choice(["yes", "no", "noanswer", "Yes.", "a no", "the", "...", "\u00a0\u2028", ""]),
    ]


def services_with(transport: Transport | None = None) -> Services:
    """Services whose judge and user are `transport`, or nobody."""
    settings = Settings(base_url=None)
    return Services(settings, Models(settings, transport), "scripted", "scripted")
