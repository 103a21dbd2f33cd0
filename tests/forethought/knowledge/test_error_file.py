"""Distilled errors as a file: written whole, beside what others have written."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from forethought.knowledge.error_file import free_file, write_errors, yaml_text
from forethought.knowledge.planning_errors import (
    Generated,
    Pattern,
    PlanningError,
    Provenance,
    load_planning_errors,
)
from forethought.knowledge.yaml_files import plain_yaml


def distilled(name: str = "stale_source", text: str = "The plan takes a figure: # unasked.") -> PlanningError:
    """An error as the distiller makes it."""
    return PlanningError(
        name=name,
        description=text,
        failures=(
            Pattern(text="a: b"),
            Pattern(text="c", provenance=Provenance(source="s", trajectory="t1")),
        ),
        successes=(Pattern(text="- d"),),
        generated=Generated(model="openai:m", date="2026-01-02"),
    )


def test_a_new_file_can_be_read_and_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "errors.yaml"
    write_errors(path, [distilled(), distilled("second")])
    assert load_planning_errors(path) == (distilled(), distilled("second"))
    assert "is not written over" in path.read_text()
    assert os.listdir(tmp_path) == ["errors.yaml"]


def test_only_what_was_written_and_left_as_it_is_may_be_written_over(tmp_path: Path) -> None:
    path = tmp_path / "errors.yaml"
    assert free_file(path, {}) == path
    hashes = {path.name: write_errors(path, [distilled()])}
    assert free_file(path, hashes) == path
    assert free_file(path, {}) == tmp_path / "errors.new.yaml"
    path.write_text(path.read_text() + "# mine\n")
    second = free_file(path, hashes)
    assert second == tmp_path / "errors.new.yaml"
    second.mkdir()
    assert free_file(path, hashes) == tmp_path / "errors.new2.yaml"


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"))).filter(str.strip))
def test_any_text_comes_back_as_it_was_written(text: str) -> None:
    (found,) = plain_yaml(yaml_text([distilled(text=text)]), Path("x.yaml"))["errors"]
    assert found["description"].split() == text.split()
