"""A worker process's own side: requests as JSON lines, one answer each.

What a public repository imports but an environment never uses (clients of model providers, loggers, tables)
is replaced by stand-ins, so that it need not be installed.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any


def serve(operations: Mapping[str, Callable[..., Any]]) -> None:
    """Answer until standard input ends. A failure is answered too, and the process goes on."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what others print is no answer
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": operations[request["operation"]](**request["arguments"])}
        except Exception as error:  # told to the other side, which raises
            text = " ".join(f"{type(error).__name__}: {error}".split())
            answer = {"error": text[:500]}
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()


def serve_domain(domain: Any) -> None:
    """Serve a domain of tau-bench or tau2."""
    names = ("describe", "reset", "open", "call", "say", "reward", "floor")
    serve({name: getattr(domain, name) for name in names})


def tool_spec(info: Mapping[str, Any], changes_world: bool) -> dict[str, Any]:
    """A tool as `types.ToolSpec` has it, of a function as OpenAI has it."""
    names = ("name", "description", "parameters")
    return {**{name: info[name] for name in names}, "changes_world": changes_world}


class _Quiet:
    """Takes every call and does nothing, as a logger that is off."""

    def __getattr__(self, name: str) -> Any:
        return _Quiet()

    def __call__(self, *arguments: object, **named: object) -> None:
        return None


class _StandIn(ModuleType):
    """A module whose classes can be named, in an annotation say, but not made; a quiet one does nothing."""

    quiet = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.quiet:
            return _Quiet()

        def refused(kind: type, *arguments: object, **named: object) -> None:
            raise RuntimeError(f"{self.__name__}.{name} is not there: environments run without it")

        return type(name, (), {"__new__": refused})


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, absent: Sequence[str], quiet: Sequence[str]) -> None:
        self.absent, self.quiet = absent, quiet

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        known = top in self.absent or top in self.quiet
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = _StandIn(spec.name)
        module.quiet = spec.name.partition(".")[0] in self.quiet
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


def stand_in(absent: Sequence[str] = (), quiet: Sequence[str] = ()) -> None:
    """Replace packages, whether they are installed or not."""
    sys.meta_path.insert(0, _StandIns(absent, quiet))
