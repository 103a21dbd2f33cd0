"""The planning errors that every plan is checked against (PreFlect, section 3.2.1 and appendix B).

They are a YAML file that people read, correct and extend. It is checked whole when it is loaded, so that a
slip of the pen is reported with its line instead of weakening a diagnosis unseen. docs/how-to/teach.md
describes the file.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from forethought.json_files import read_text
from forethought.knowledge.yaml_files import Name, Text, load_file, parse_yaml

PACKAGED = Path(__file__).with_name("planning_errors.yaml")
FOR_FOLDERS = Path(__file__).with_name("folder_errors.yaml")
"""Errors that only a plan for many files can have."""
BRIEF_FAILURES = 2
"""Failure examples in a diagnosis (appendix B.2), and the minimum of an error."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(_Record):
    """Where a pattern was observed. Evaluations leave the questions named here out."""

    source: Text
    """The collection of trajectories: an address or a description."""
    file: Text | None = None
    trial: int | None = None
    trajectory: Text | None = None
    """Its id, if it has one."""
    question: Text | None = None
    """The beginning of the task, long enough to identify it in the collection."""
    outcome: Literal["failure", "success"] | None = None


class Pattern(_Record):
    """A short stretch of a trajectory: what was planned, done and seen, and how it ended."""

    text: Text
    provenance: Provenance | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, value: object) -> object:
        """A person may write the text alone."""
        return {"text": value} if isinstance(value, str) else value


class Generated(_Record):
    """That an error was distilled, by which model and when."""

    model: Text
    date: Text


class PlanningError(_Record):
    """A recurring deficiency of plans, with what it looked like when it happened and when it was avoided."""

    name: Name
    """The error type that a diagnosis reports."""
    description: Text
    sign: Text | None = None
    """How to recognize it in a plan, in a sentence; default: the description."""
    failures: Annotated[tuple[Pattern, ...], Field(min_length=BRIEF_FAILURES)]
    successes: Annotated[tuple[Pattern, ...], Field(min_length=1)]
    generated: Generated | None = None

    def brief(self) -> dict[str, Any]:
        """What the diagnosis is shown, turn 1: name, sign, description, two failure texts (appendix B.2)."""
        failures = [pattern.text for pattern in self.failures[:BRIEF_FAILURES]]
        sign = self.sign or self.description
        return {"name": self.name, "sign": sign, "description": self.description, "failures": failures}

    def full(self) -> dict[str, Any]:
        """What the revision is shown, turn 2: name, description and every failure and success text (B.2)."""
        return {
            "name": self.name,
            "description": self.description,
            "failures": [pattern.text for pattern in self.failures],
            "successes": [pattern.text for pattern in self.successes],
        }


class _File(_Record):
    version: Literal["1"]  # text, as every scalar of the file is read
    errors: Annotated[tuple[PlanningError, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [error.name for error in self.errors]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"the name {twice!r} is used twice; make it unique")
        return self


def load_planning_errors(path: Path | None = None) -> tuple[PlanningError, ...]:
    """The planning errors in the file at `path`, by default the packaged one, in the file's order.

    Reads the disk: call it in a thread from a coroutine. An edited file is read again. Raises FileError.
    """
    return load_file(PACKAGED if path is None else path, _read_errors)


def _read_errors(path: Path) -> tuple[PlanningError, ...]:
    return parse_yaml(read_text(path), path, _File).errors
