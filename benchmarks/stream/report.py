"""The stream's table and plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from benchmarks.stream.contenders import TITLES
from benchmarks.stream.records import Answered, Records

HEAD = (
    "method", "right before a correction", "right after it", "corrections per family", "unrelated right",
    "calls per task", "tokens per task", "tokens per correction",
)  # fmt: skip


def table(records: Records) -> str:
    """A row for each method, as Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", "|" + " --- |" * len(HEAD)]
    return "\n".join([*lines, *(f"| {' | '.join(_row(records, name))} |" for name in _methods(records))])


def _row(records: Records, method: str) -> list[str]:
    answers = [item for item in records.answers.values() if item.method == method]
    corrections = [item for item in records.corrections.values() if item.method == method]
    of_families = [item for item in answers if item.family]
    families = {item.family for item in of_families}
    return [
        TITLES[method],
        _share([item for item in of_families if not item.told]),
        _share([item for item in of_families if item.told]),
        f"{len(corrections) / len(families):.1f}" if families else "",
        _share([item for item in answers if not item.family]),
        f"{mean(item.calls for item in answers):.1f}",
        f"{mean(item.tokens for item in answers):,.0f}",
        f"{mean(item.tokens for item in corrections):,.0f}" if corrections else "",
    ]


def _share(answers: Sequence[Answered]) -> str:
    return f"{sum(item.verdict == 'right' for item in answers)} of {len(answers)}"


def _methods(records: Records) -> list[str]:
    made = {item.method for item in records.answers.values()}
    return [name for name in TITLES if name in made]


def draw(records: Records, path: Path) -> None:
    """The share of families with a right answer, by position, as SVG."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    # The same figures give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "forethought", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        for name, marker in zip(_methods(records), "os^D", strict=False):
            positions, shares = _by_position(records, name)
            axes.plot(positions, shares, marker=marker, label=TITLES[name], clip_on=False)
        axes.set(xlabel="task of the family", ylabel="families with a right answer (%)", ylim=(0, 100))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _by_position(records: Records, method: str) -> tuple[list[int], list[float]]:
    found: dict[int, list[bool]] = {}
    for item in records.answers.values():
        if item.method == method and item.family:
            found.setdefault(item.position, []).append(item.verdict == "right")
    positions = sorted(found)
    return positions, [100 * mean(found[position]) for position in positions]
