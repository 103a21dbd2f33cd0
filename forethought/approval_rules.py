"""Approval rules: decisions on calls that change or send something, as data.

    approvals:
    - {tools: "send_*", decision: allow, arguments: {to: "*@example.com"}}
    - {tools: delete_file, decision: deny}

The first rule that matches a call decides it, before any consent is read. `allowed_decisions` is the field of
that name of LangChain's `HumanInTheLoopMiddleware`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

Reply = Literal["approve", "approve all", "edit", "reject"]
_WITHIN = {"**": r"[^\s,;]*", "*": r"[^\s,;/\\@?#]*", "?": r"[^\s,;/\\@?#]"}
"""Wildcards of an `allow` rule: none matches a second address, and `*` matches one part of a path."""


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
    allowed_decisions: tuple[Reply, ...] = Field(
        default=("approve", "approve all", "edit", "reject"), min_length=1
    )
    """The replies that `ask` accepts."""

    def matches(
        self, tool: str, arguments: Mapping[str, Any], forms: Callable[[Any], set[str]] = lambda value: set()
    ) -> bool:
        """Whether the rule decides a call.

        Args:
            tool: Name of the tool.
            arguments: The arguments with their defaults.
            forms: Further spellings of a value; to ask or deny, one of them is enough.

        Returns:
            Whether each pattern fits. To allow, it has to fit every value of a list, else one.
        """
        named = any(fnmatchcase(tool, name) for name in self.tools)
        return named and all(
            self._fits(pattern.lower(), list(_leaves(arguments.get(name))) or [""], forms)
            for name, pattern in self.arguments.items()
        )

    def _fits(self, pattern: str, values: list[Any], forms: Callable[[Any], set[str]]) -> bool:
        if self.decision != "allow":
            values = values if pattern == "" or values != [""] else []
            spelt = {form for value in values for form in (str(value).lower(), *forms(value))}
            return any(fnmatchcase(form, pattern) for form in spelt)
        parts = (_WITHIN.get(part, re.escape(part)) for part in re.split(r"(\*\*|[*?])", pattern))
        whole = re.compile(".*" if pattern == "*" else "".join(parts), re.DOTALL)
        texts = [unquote(str(value)).lower() for value in values]
        return all(whole.fullmatch(text) and ".." not in re.split(r"[/\\]", text) for text in texts)


Rules = tuple[ApprovalRule, ...]
_RULES = TypeAdapter(Rules)


def _leaves(value: Any) -> Iterator[Any]:
    """The single values of an argument."""
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif value is not None:
        yield value


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
        number, *rest = first["loc"] or ("",)
        place = " ".join([f"rule {number + 1}" if isinstance(number, int) else "rules", *map(str, rest)])
        wrong = f"{source}, {place}: {first['msg']}"
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
