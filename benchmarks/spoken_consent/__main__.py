"""Carries every conversation out and prints the tables. Exits with 1 if a call was wrongly made."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.spoken_consent.runs import Spoken, conversations

HEAD = ("conversations", "calls asked for", "made unasked", "other calls", "asked about", "wrongly made")


def table(spoken: Sequence[Spoken], by: str) -> str:
    """Calls by the `kind` or `language` of their conversation, as Markdown."""
    lines = [f"| {' | '.join((by, *HEAD))} |", "| --- " * (len(HEAD) + 1) + "|"]
    groups = {name: [item for item in spoken if getattr(item, by) == name] for name in _names(spoken, by)}
    for name, group in {**groups, "all": list(spoken)}.items():
        counts = Counter((right == "yes", unasked) for item in group for right, unasked in item.outcomes())
        wanted, others = counts[True, True] + counts[True, False], counts[False, True] + counts[False, False]
        figures = (len(group), wanted, counts[True, True], others, counts[False, False], counts[False, True])
        lines.append(f"| {' | '.join((name, *map(str, figures)))} |")
    return "\n".join(lines)


def _names(spoken: Sequence[Spoken], by: str) -> list[str]:
    return sorted({getattr(item, by) for item in spoken})


def carried_out(item: Spoken) -> Spoken:
    """Carry a conversation out, in a process of the pool."""
    return asyncio.run(item.carry_out())


def main() -> int:
    """See the package."""
    with ProcessPoolExecutor() as pool:
        spoken = list(pool.map(carried_out, conversations(), chunksize=10))
    print(table(spoken, "kind"), table(spoken, "language"), sep="\n\n")
    wrong = [item for item in spoken if ("no", True) in item.outcomes() or ("ask", True) in item.outcomes()]
    for item in wrong:
        print("wrongly made:", item.id)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
