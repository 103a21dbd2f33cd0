"""The benchmarks and methods by name, imported only when they are used."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeVar

from forethought.collecting.success import load_object
from forethought.evals.types import Benchmark, Method

T = TypeVar("T")
_MODULES = {
    "gaia": "gaia:BENCHMARK",
    "simpleqa": "simpleqa:BENCHMARK",
    "hotpotqa": "hotpotqa:BENCHMARK",
    "musique": "musique:BENCHMARK",
    "stabletoolbench": "stable_tool_bench.benchmark:BENCHMARK",
    "travelplanner": "travel_planner:BENCHMARK",
    "natural-plan": "natural_plan:BENCHMARK",
    "tau-bench": "service:TAU_BENCH",
    "tau2": "service:TAU2",
    "alfworld": "alfworld:BENCHMARK",
    "webshop": "shopping:WEBSHOP",
    "small-shop": "shopping:SMALL_SHOP",
    "traps": "traps.benchmark:BENCHMARK",
    "folder": "folders.benchmark:BENCHMARK",
    "agent-error-bench": "agent_error_bench:BENCHMARK",
}
BENCHMARKS = {name: f"forethought.evals.benchmarks.{path}" for name, path in _MODULES.items()}
"""Name -> module:object."""


class UnknownNameError(ValueError):
    """No benchmark or method has the name: one line that lists those there are."""


def benchmark(name: str, checkers: Collection[str] = ()) -> Benchmark:
    """The benchmark `name`, or the one that MODULE:OBJECT names, which is imported: for a name that a person
    gives, never for one that is read from a file. `checkers`: those that a tasks file may name.

    Raises UnknownNameError, and ImportError where a package that it needs is not installed.
    """
    if ":" in name and not is_tasks_file(name):
        return _named_object(name, Benchmark)  # type: ignore[type-abstract]
    return built_in_benchmark(name, checkers)


def is_tasks_file(name: str) -> bool:
    """Whether a benchmark's name is a file of one's own questions."""
    from forethought.evals.benchmarks.own_tasks import SUFFIXES

    return Path(name).suffix.lower() in SUFFIXES


def built_in_benchmark(name: str, checkers: Collection[str] = ()) -> Benchmark:
    """The benchmark `name` of those that come with this package, or a file of tasks, which is not read yet.
    Raises UnknownNameError and ImportError."""
    if is_tasks_file(name):
        from forethought.evals.benchmarks.own_tasks import OwnTasks

        return OwnTasks(Path(name), checkers)
    if name not in BENCHMARKS:
        raise _unknown("benchmark", name, [*BENCHMARKS, "a file of tasks (.jsonl, .csv)"])
    named = _imported(BENCHMARKS[name])
    assert isinstance(named, Benchmark)
    return named


def method_names() -> list[str]:
    """The methods, ours first."""
    from forethought.evals.methods.registry import METHODS

    return list(METHODS)


def method(name: str) -> Method:
    """The method `name`, or the one that MODULE:OBJECT names; see `benchmark`. Raises UnknownNameError."""
    from forethought.evals.methods.registry import METHODS

    if ":" in name:
        return _named_object(name, Method)  # type: ignore[type-abstract]
    if name not in METHODS:
        raise _unknown("method", name, METHODS)
    return METHODS[name]


def _named_object(path: str, kind: type[T]) -> T:
    try:
        named = load_object(path)
    except ValueError as error:
        raise UnknownNameError(f"{error}; name it as MODULE:OBJECT") from error
    if not isinstance(named, kind):
        wanted = f"{kind.__module__}.{kind.__name__}"
        raise UnknownNameError(
            f"{path} is not a {kind.__name__.lower()}: name an object of a subclass of {wanted}"
        )
    return named


def _imported(path: str) -> object:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _unknown(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    close = difflib.get_close_matches(name, list(known), n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    return UnknownNameError(f"unknown {kind} {name!r}{hint} There are: {', '.join(known)}")
