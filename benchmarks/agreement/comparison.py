"""What the agreement scripts share: counting where two scorers agree, and showing where they do not."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import types
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_CASE = 120
"""Characters of a prediction that are printed."""


@dataclass
class Comparison:
    """Verdicts of an official function and of ours on the same predictions."""

    title: str
    compared: int = 0
    agreed: int = 0
    positive: int = 0
    """Agreed verdicts that are not zero: agreement on wrong answers alone would say little."""
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """One for each reason."""

    def add(self, official: Any, ours: Any, case: str, reason: str = "unexplained") -> None:
        """Count one prediction; `reason` explains the difference, if there is one."""
        self.compared += 1
        if official == ours:
            self.agreed += 1
            self.positive += bool(ours)
            return
        self.reasons[reason] += 1
        self.examples.setdefault(reason, f"official {official!r}, ours {ours!r}: {case[:_CASE]!r}")

    def print(self) -> None:
        """The figures, and every reason with its count and examples."""
        print(
            f"{self.title}: {self.compared} compared, {self.agreed} agree ({self.positive} not zero), "
            f"{self.compared - self.agreed} differ"
        )
        for reason, count in self.reasons.most_common():
            print(f"  {count} x {reason}; such as {self.examples[reason]}")


def finish(comparisons: Sequence[Comparison]) -> int:
    """Print all; 1 where nothing was compared or a difference is unexplained, else 0."""
    for each in comparisons:
        each.print()
    return int(any(not each.compared or each.reasons["unexplained"] for each in comparisons))


def repo_argument(document: str | None, what: str) -> argparse.ArgumentParser:
    """A parser with --repo, the checkout of the public code."""
    parser = argparse.ArgumentParser(description=(document or "").splitlines()[0])
    parser.add_argument("--repo", type=Path, required=True, help=f"a checkout of {what}")
    return parser


def module_at(file: Path, name: str) -> types.ModuleType:
    """The Python module in `file`, imported under `name`. Ends the script when it is not there."""
    if not file.is_file():
        raise SystemExit(f"{file}: not found; give the checkout with --repo")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def stand_in(name: str, **attributes: Any) -> None:
    """Put an empty module in the place of one that the official file imports and its scorer does not use."""
    if name not in sys.modules and importlib.util.find_spec(name) is None:
        module = types.ModuleType(name)
        module.__dict__.update(attributes)
        sys.modules[name] = module
