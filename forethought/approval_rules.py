"""Approval rules: decisions on calls that change or send something, as data.

    approvals:
    - {tools: "send_*", decision: allow, arguments: {to: "*@example.com"}}
    - {tools: delete_file, decision: deny}

The first rule that matches a call decides it, before any consent is read. `allowed_decisions` is the field of
that name of LangChain's `HumanInTheLoopMiddleware`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

Reply = Literal["approve", "approve all", "edit", "reject"]
_WITHIN = {"**": r"[^\s,;]*", "*": r"[^\s,;/\\@?#]*", "?": r"[^\s,;/\\@?#]"}
"""What a wildcard of an `allow` rule matches: no second address, and with `*` no further part of a path."""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class ApprovalRule(BaseModel):
    """A decision on the calls that match."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = Field(min_length=1)
    """Names of tools, or patterns with * and ?."""
    decision: Literal["ask", "allow", "deny"]
    arguments: dict[str, str] = Field(default_factory=dict)
    """A pattern for each argument that the rule depends on."""
    allowed_decisions: tuple[Reply, ...] = ("approve", "approve all", "edit", "reject")
    """The replies that `ask` accepts."""

    def matches(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the rule decides this call. To allow it, every value of a list has to match."""
        every = all if self.decision == "allow" else any
        return any(fnmatchcase(tool, name) for name in self.tools) and all(
            bool(values := list(_leaves(arguments.get(name)))) and every(map(self._fits(pattern), values))
            for name, pattern in self.arguments.items()
        )

    def _fits(self, pattern: str) -> Any:
        pattern = pattern.casefold()
        if self.decision != "allow" or pattern == "*":
            return lambda value: fnmatchcase(value, pattern)
        parts = (_WITHIN.get(part, re.escape(part)) for part in re.split(r"(\*\*|[*?])", pattern))
        whole = re.compile("".join(parts))
        return lambda value: whole.fullmatch(value) and ".." not in re.split(r"[/\\]", value)


Rules = tuple[ApprovalRule, ...]
_RULES = TypeAdapter(Rules)


def _leaves(value: Any) -> Iterator[str]:
    """The single values of an argument, in lower case."""
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif value is not None:
        yield str(value).casefold()


def rules_of(text: str, source: str = "approvals") -> Rules:
    """The rules in YAML or JSON: a list, or a mapping with the list under `approvals`.

    Raises ValueError, one line that names `source` and the rule.
    """
    try:
        loaded = yaml.safe_load(text)
        return _RULES.validate_python(loaded["approvals"] if isinstance(loaded, dict) else loaded or ())
    except yaml.YAMLError as error:
        raise ValueError(f"{source} is not YAML: {' '.join(str(error).split())[:200]}") from error
    except KeyError as error:
        raise ValueError(f"{source} has no list `approvals`") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "rules"
        wrong = f"{source}: {place}: {first['msg']}"
        raise ValueError(f"{wrong}; write a list of {{tools, decision, arguments}}") from error


def parse_rules(value: Any) -> Any:
    """Rules that may be given as text, as in a variable of the environment."""
    return rules_of(value) if isinstance(value, str) else value


def read_rules(path: Path) -> Rules:
    """The rules of a file. Raises ValueError, one line."""
    try:
        return rules_of(path.read_text("utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {getattr(error, 'strerror', '') or 'not UTF-8'}") from error
