"""Merging distilled errors into a file without undoing what a person wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.json_files import FileError
from forethought.knowledge.error_file import write_errors, yaml_text
from forethought.knowledge.planning_errors import (
    Generated,
    Pattern,
    PlanningError,
    Provenance,
    load_planning_errors,
    parse_planning_errors,
)


def distilled(name: str = "stale_source", text: str = "The plan takes a figure: # unasked.") -> PlanningError:
    """An error as the distiller makes it."""
    error = PlanningError(
        name=name,
        description=text,
        failures=(
            Pattern(text="a: b"),
            Pattern(text="c", provenance=Provenance(source="s", trajectory="t1")),
        ),
        successes=(Pattern(text="- d"),),
    )
    mark = Generated(hash=error.text_hash(), model="openai:m", date="2026-01-02")
    return error.model_copy(update={"generated": mark})


def file_with(tmp_path: Path, *errors: PlanningError) -> Path:
    """A file that was written by the distiller."""
    path = tmp_path / "errors.yaml"
    write_errors(path, errors)
    return path


def test_a_new_file_can_be_read_and_says_what_it_is(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled(), distilled("second"))
    found = load_planning_errors(path)
    assert found == (distilled(), distilled("second"))
    assert all(error.untouched for error in found)
    assert "is yours" in path.read_text()
    assert os.listdir(tmp_path) == ["errors.yaml"]


def test_an_untouched_error_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled(), distilled("second"))
    merged = write_errors(path, [distilled(text="Another wording."), distilled("third")])
    assert (merged.path, merged.replaced, merged.added) == (path, ["stale_source"], ["third"])
    assert [error.name for error in load_planning_errors(path)] == ["stale_source", "second", "third"]
    assert load_planning_errors(path)[0].description == "Another wording."


@pytest.mark.parametrize(
    ("old", "new"),
    [("takes a figure", "takes a number"), ("a: b", "a: better"), ("Stale source", "Stale")],
)
def test_an_error_that_a_person_changed_is_kept(tmp_path: Path, old: str, new: str) -> None:
    path = file_with(tmp_path, distilled())
    edited = path.read_text().replace(old, new, 1)
    path.write_text(edited)
    merged = write_errors(path, [distilled(text="Another wording.")])
    assert (merged.kept, merged.replaced) == (["stale_source"], [])
    assert path.read_text() == edited


def test_a_file_with_comments_is_left_alone_and_a_new_one_has_all_errors(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled())
    commented = path.read_text().replace("a: b", "a: mine") + "# think of tables\n"
    path.write_text(commented)
    merged = write_errors(path, [distilled(text="Another wording."), distilled("second")])
    assert (merged.path, merged.kept, merged.added) == (
        tmp_path / "errors.new.yaml",
        ["stale_source"],
        ["second"],
    )
    assert path.read_text() == commented
    first, second = load_planning_errors(merged.path)
    assert (first.failures[0].text, second) == ("a: mine", distilled("second"))


def test_what_a_person_took_out_stays_out_and_obsolete_ones_go(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled("first"), distilled("second"))
    merged = write_errors(path, [distilled("third")], removed=["third"], obsolete=["first"])
    assert merged.removed == ["third"]
    assert [error.name for error in load_planning_errors(path)] == ["second"]
    path.write_text(path.read_text().replace("a: b", "mine", 1))
    write_errors(path, [], obsolete=["second"])
    assert [error.name for error in load_planning_errors(path)] == ["second"], "a person changed it"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("version: 1\nerrors:\n  - name: Bad Name\n", ":3: "),
        ("version: 1\nerrors: {", "not YAML"),
    ],
)
def test_a_file_that_cannot_be_merged_with_is_refused_and_left_alone(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = tmp_path / "errors.yaml"
    path.write_text(text)
    with pytest.raises(FileError, match=r"errors\.yaml") as refused:
        write_errors(path, [distilled()])
    assert reason in str(refused.value)
    assert path.read_text() == text


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"))).filter(str.strip))
def test_any_text_comes_back_as_it_was_written(text: str) -> None:
    error = distilled(text=text)
    (found,) = parse_planning_errors(yaml_text([error]), Path("x.yaml"))
    assert found.text_hash() == error.text_hash()
