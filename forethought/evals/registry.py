"""The benchmarks and methods by name, imported only when they are used."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from typing import cast

from typing_extensions import get_protocol_members

from forethought.evals.types import Benchmark, Method

_PACKAGE = "forethought.evals.benchmarks"
BENCHMARKS: dict[str, str] = {
    "gaia": f"{_PACKAGE}.gaia:BENCHMARK",
    "simpleqa": f"{_PACKAGE}.simpleqa:BENCHMARK",
    "hotpotqa": f"{_PACKAGE}.hotpotqa:BENCHMARK",
    "musique": f"{_PACKAGE}.musique:BENCHMARK",
    "stabletoolbench": f"{_PACKAGE}.stable_tool_bench:BENCHMARK",
    "travelplanner": f"{_PACKAGE}.travel_planner:BENCHMARK",
    "natural-plan": f"{_PACKAGE}.natural_plan:BENCHMARK",
    "tau-bench": f"{_PACKAGE}.tau_bench:BENCHMARK",
    "tau2": f"{_PACKAGE}.tau2:BENCHMARK",
    "alfworld": f"{_PACKAGE}.alfworld:BENCHMARK",
    "webshop": f"{_PACKAGE}.webshop:BENCHMARK",
    "small-shop": f"{_PACKAGE}.small_shop:BENCHMARK",
    "agent-error-bench": f"{_PACKAGE}.agent_error_bench:BENCHMARK",
}
"""Name -> module:object."""


class UnknownNameError(ValueError):
    """No benchmark or method has the name: one line that lists those there are."""


def benchmark(name: str) -> Benchmark:
    """The benchmark `name`, or the one that MODULE:OBJECT names, which is imported: for a name that a person
    gives, never for one that is read from a file.

    Raises UnknownNameError, and ImportError where a package that it needs is not installed.
    """
    return cast(Benchmark, _of_module(name, Benchmark)) if ":" in name else built_in_benchmark(name)


def built_in_benchmark(name: str) -> Benchmark:
    """The benchmark `name` of those that come with this package. Raises UnknownNameError and ImportError."""
    if name not in BENCHMARKS:
        raise UnknownNameError(_unknown("benchmark", name, list(BENCHMARKS)))
    return cast(Benchmark, _imported(BENCHMARKS[name]))


def method_names() -> list[str]:
    """The methods, ours first."""
    from forethought.evals import methods

    return list(methods.method_names())


def method(name: str) -> Method:
    """The method `name`, or the one that MODULE:OBJECT names, which is imported: for a name that a person
    gives, never for one that is read from a file. Raises UnknownNameError."""
    if ":" in name:
        return cast(Method, _of_module(name, Method))
    from forethought.evals import methods

    if name not in (known := method_names()):
        raise UnknownNameError(_unknown("method", name, known))
    return methods.method(name)


def _of_module(path: str, kind: type) -> object:
    try:
        found = _imported(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownNameError(f"{path}: cannot be imported as MODULE:OBJECT ({error})") from error
    missing = sorted(name for name in get_protocol_members(kind) if not hasattr(found, name))
    if isinstance(found, type) or missing:
        why = f"has no {', '.join(missing)}" if missing else "is a class: name an object of it"
        raise UnknownNameError(f"{path} is no {kind.__name__.lower()}: it {why}")
    return found


def _imported(path: str) -> object:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"unknown {kind} {name!r}{hint} There are: {', '.join(known)}".replace("' There", "'. There")
