"""AgentErrorTaxonomy: the 17 error types of an agent's modules (AgentDebug, Table 2).

A type belongs to its module: `hallucination` of memory and of reflection are two types.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from forethought.json_files import read_text
from forethought.knowledge.yaml_files import Name, Text, parse_yaml
from forethought.text import one_line
from forethought.trajectories.types import MODULES, Module

PACKAGED = Path(__file__).with_name("error_taxonomy.yaml")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ErrorType(_Record):
    """One way in which a module's output can be wrong."""

    name: Name
    aliases: tuple[Name, ...] = ()
    definition: Text
    example: Text


class ModuleTypes(_Record):
    """A module, what its output is asked, and its types."""

    name: Module
    aliases: tuple[Name, ...] = ()
    question: Text
    types: tuple[ErrorType, ...]


class Taxonomy(_Record):
    """The whole file."""

    version: Literal["1"]  # text, as every scalar of the file is read
    modules: tuple[ModuleTypes, ...]

    @cached_property
    def _module_names(self) -> dict[str, Module]:
        return {name: each.name for each in self.modules for name in (each.name, *each.aliases)}

    @cached_property
    def _type_names(self) -> dict[tuple[str, str], str]:
        return {
            (each.name, name): kind.name
            for each in self.modules
            for kind in each.types
            for name in (kind.name, *kind.aliases)
        }

    def types(self, module: str) -> tuple[ErrorType, ...]:
        """The types of `module`; none for a module that there is not."""
        owner = self.module(module)
        return next((each.types for each in self.modules if each.name == owner), ())

    def module(self, name: str) -> Module | None:
        """The module that `name` means, in any known spelling."""
        return self._module_names.get(_plain(name))

    def resolve(self, module: str, name: str) -> str | None:
        """The canonical name of the type that `name` means for `module`, or None. no_error is no type."""
        owner, plain = self.module(module), _plain(name)
        if owner is None:
            return None
        # Models like to write the module in front: memory/hallucination, memory_hallucination.
        bare = plain.removeprefix(f"{owner}_")
        return self._type_names.get((owner, plain)) or self._type_names.get((owner, bare))

    def problem(self, module: str, name: str) -> str | None:
        """Why `name` is no type of `module`, in one line that lists those that are; None if it is one."""
        if self.module(module) is None:
            return f"there is no module {one_line(module, 60)!r}; the modules are {', '.join(MODULES)}"
        if self.resolve(module, name) is not None:
            return None
        known = ", ".join(kind.name for kind in self.types(module))
        owners = [each.name for each in self.modules if self.resolve(each.name, name)]
        elsewhere = f" (it is one of {' and '.join(owners)})" if owners else ""
        owner = f"{self.module(module)}{elsewhere}"
        return f"{one_line(name, 60)!r} is not an error type of {owner}; its types are {known}"

    def text(self) -> str:
        """The types for a prompt, in the file's order: every definition with its example."""
        blocks = []
        for each in self.modules:
            lines = [f"{each.name}: {each.question}"]
            for kind in each.types:
                lines += [f"- {kind.name}: {kind.definition}", f"  Example: {kind.example}"]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)


@lru_cache
def load_taxonomy() -> Taxonomy:
    """The packaged taxonomy."""
    return parse_yaml(read_text(PACKAGED), PACKAGED, Taxonomy)


def _plain(name: str) -> str:
    """`name` in lower case with single underscores, as names are written in the file."""
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
