"""The planning errors that every plan is checked against (PreFlect, section 3.2.1 and appendix B).

They are a YAML file that people read, correct and extend. It is checked whole when it is loaded, so that a
slip of the pen is reported with its line instead of weakening a diagnosis unseen. docs/planning_errors.md
describes the file.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

from forethought.knowledge.documents import KnowledgeError as KnowledgeError
from forethought.knowledge.documents import (
    Name,
    Text,
    read_document,
    refusal,
    validated,
    why,
)
from forethought.knowledge.marked_yaml import MarkedYaml, MarkedYamlError

PACKAGED = Path(__file__).with_name("planning_errors.yaml")
BRIEF_FAILURES = 2
"""Failure examples that a diagnosis is shown (appendix B.2), so the fewest that an error may have."""

Outcome = Literal["failure", "success"]


class Provenance(BaseModel):
    """Where a pattern was observed. Evaluations leave the questions named here out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Text
    """The collection of trajectories, as an address, or in words."""
    file: Text | None = None
    trial: int | None = None
    trajectory: Text | None = None
    """Its id, where it has one."""
    question: Text | None = None
    """The beginning of the task, long enough to tell it from the collection's others."""
    outcome: Outcome | None = None


class Pattern(BaseModel):
    """A short stretch of a trajectory: what was planned, done and seen, and how it ended."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Text
    provenance: Provenance | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, value: object) -> object:
        """A person may write the text alone."""
        return {"text": value} if isinstance(value, str) else value


def _ended_in(outcome: Outcome) -> Callable[[Pattern], Pattern]:
    def check(pattern: Pattern) -> Pattern:
        if pattern.provenance and pattern.provenance.outcome not in (None, outcome):
            raise ValueError(f"its outcome is {pattern.provenance.outcome}, but this list is for the other")
        return pattern

    return check


def _at_least(fewest: int) -> AfterValidator:
    """A length check after the entries' own, since pydantic's would count only the valid ones."""

    def check(entries: tuple[object, ...]) -> tuple[object, ...]:
        if len(entries) < fewest:
            raise ValueError(f"{len(entries)} entries are too few, it needs {fewest} or more")
        return entries

    return AfterValidator(check)


Failure = Annotated[Pattern, AfterValidator(_ended_in("failure"))]
Success = Annotated[Pattern, AfterValidator(_ended_in("success"))]


def _display_name(fields: Mapping[str, Any]) -> str:
    return str(fields.get("name", "")).replace("_", " ").capitalize()


class Generated(BaseModel):
    """That an error was distilled, by which model and when, and what it read like then."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hash: Text
    """`text_hash` of the error as it was generated: where it has another one now, a person has changed it."""
    model: Text
    date: Text


class PlanningError(BaseModel):
    """A recurring deficiency of plans, with what it looked like when it happened and when it was avoided."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    """The error type that a diagnosis reports."""
    display_name: Text = Field(default_factory=_display_name)
    """The name as a person reads it; derived from `name` if it is not given."""
    description: Text
    failures: Annotated[tuple[Failure, ...], _at_least(BRIEF_FAILURES)]
    successes: Annotated[tuple[Success, ...], _at_least(1)]
    generated: Generated | None = None

    @property
    def untouched(self) -> bool:
        """Whether it was distilled and reads as it did then."""
        return self.generated is not None and self.generated.hash == self.text_hash()

    def text_hash(self) -> str:
        """A hash of its words; spaces and line breaks do not count."""
        texts = [self.name, self.display_name, self.description, "failures"]
        texts += [
            *(item.text for item in self.failures),
            "successes",
            *(item.text for item in self.successes),
        ]
        words = "\x1f".join(" ".join(text.split()) for text in texts)
        return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]

    def brief(self) -> dict[str, Any]:
        """What the diagnosis is shown, turn 1: name, description and two failure texts (appendix B.2)."""
        failures = [pattern.text for pattern in self.failures[:BRIEF_FAILURES]]
        return {"name": self.name, "description": self.description, "failures": failures}

    def full(self) -> dict[str, Any]:
        """What the revision is shown, turn 2: name, description and every failure and success text (B.2)."""
        return {
            "name": self.name,
            "description": self.description,
            "failures": [pattern.text for pattern in self.failures],
            "successes": [pattern.text for pattern in self.successes],
        }


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal["1"]  # text, as every scalar of MarkedYaml is
    errors: Annotated[tuple[PlanningError, ...], _at_least(1)]


def load_planning_errors(path: Path | None = None) -> tuple[PlanningError, ...]:
    """The planning errors in the file at `path`, by default the packaged one, in the file's order.

    Reads the disk: call it in a thread from a coroutine. A file that has not changed is parsed once a
    process, and an edited one is read again. Raises KnowledgeError.
    """
    chosen = PACKAGED if path is None else path
    try:
        found = chosen.absolute()
        stat = found.stat()
    except (OSError, ValueError) as error:
        raise refusal(chosen, None, f"cannot be read ({why(error)}); check the path") from error
    return _load(found, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)
def _load(path: Path, mtime_ns: int, size: int) -> tuple[PlanningError, ...]:
    """The file's errors; the time (ns) and size (bytes) only key the cache, which keeps no refusals."""
    document = read_document(path, "'version: 1' and a list 'errors'")
    return _validate(path, document)


def planning_errors_in(text: str, path: Path) -> tuple[PlanningError, ...]:
    """The planning errors in the text of a file; `path` is named in refusals. Raises KnowledgeError."""
    try:
        document = MarkedYaml(text)
    except MarkedYamlError as error:
        raise refusal(path, error.line, error.reason) from error
    return _validate(path, document)


def _validate(path: Path, document: MarkedYaml) -> tuple[PlanningError, ...]:
    errors = validated(_File, path, document).errors
    seen: set[str] = set()
    for index, found in enumerate(errors):
        if found.name in seen:
            line = document.line(("errors", index, "name"))
            raise refusal(path, line, f"the name {found.name!r} is used twice; names must differ")
        seen.add(found.name)
    return errors
