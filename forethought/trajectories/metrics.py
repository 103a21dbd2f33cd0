"""The metrics of AgentDebug's Table 1: how often the critical error that is found is the annotated one.

Step: the step agrees. Step and module: both agree. All correct: step, module and error type agree. Shares are
over all annotated trajectories; one for which nothing was found counts as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.trajectories.types import Annotation

Z95 = 1.959963984540054


@dataclass(frozen=True)
class Share:
    """How many of how many, with the 95 % confidence interval of the share (Wilson)."""

    count: int
    total: int

    @property
    def share(self) -> float:
        """0 where there is nothing to count."""
        return self.count / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper bound; 0 to 1 where nothing is known."""
        return wilson(self.count, self.total)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.count}/{self.total} = {self.share:.1%} (95 % CI {low:.1%} to {high:.1%})"


@dataclass(frozen=True)
class Accuracy:
    """One method's row of the table."""

    step: Share
    step_and_module: Share
    all_correct: Share


def accuracy(
    pairs: Iterable[tuple[Annotation | None, Annotation]], taxonomy: Taxonomy | None = None
) -> Accuracy:
    """The row for `pairs` of what was found (None: nothing) and what was annotated.

    With a taxonomy, two spellings of one error type agree.
    """
    total = step = module = everything = 0
    for found, known in pairs:
        total += 1
        if found is None or found.critical_step != known.critical_step:
            continue
        step += 1
        if found.critical_module != known.critical_module:
            continue
        module += 1
        everything += _type(found, taxonomy) == _type(known, taxonomy)
    return Accuracy(Share(step, total), Share(module, total), Share(everything, total))


def wilson(count: int, total: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's interval for `count` of `total`. Raises ValueError where `count` is not from 0 to `total`."""
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if not total:
        return 0.0, 1.0
    share, square = count / total, z * z
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = z / (1 + square / total) * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return max(0.0, middle - half), min(1.0, middle + half)


def _type(annotation: Annotation, taxonomy: Taxonomy | None) -> str:
    named = annotation.error_type.strip().casefold()
    return (taxonomy and taxonomy.resolve(annotation.critical_module, named)) or named
