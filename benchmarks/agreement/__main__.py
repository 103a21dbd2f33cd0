"""Runs one comparison: `python -m benchmarks.agreement NAME CHECKOUT...`"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

ADAPTERS = ("gaia", "hotpotqa", "musique", "stable_tool_bench", "tau_bench")


def main() -> int:
    """Print the counts and the disagreements with their reasons; 1 where one is unexplained."""
    name, *folders = [*sys.argv[1:], ""]
    folders = [folder for folder in folders if folder]
    if name not in ADAPTERS:
        print(f"usage: python -m benchmarks.agreement {{{','.join(ADAPTERS)}}} CHECKOUT...")
        return 2
    compare = importlib.import_module(f"benchmarks.agreement.{name}").compare
    wanted = inspect.signature(compare)
    try:
        checkouts = wanted.bind(*(Path(folder).resolve(strict=True) for folder in folders))
    except (TypeError, OSError) as error:
        print(f"{name}: {error}; it takes the checkouts {', '.join(wanted.parameters)}")
        return 2
    comparisons = list(compare(*checkouts.args))
    for comparison in comparisons:
        comparison.print()
    return int(any(not one.compared or one.reasons["unexplained"] for one in comparisons))


if __name__ == "__main__":
    sys.exit(main())
