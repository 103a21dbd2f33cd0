"""Merging distilled errors into a file without undoing what a person wrote."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.knowledge import written_errors
from forethought.knowledge.planning_errors import (
    PACKAGED,
    Generated,
    KnowledgeError,
    Pattern,
    PlanningError,
    Provenance,
    load_planning_errors,
    planning_errors_in,
)
from forethought.knowledge.written_errors import block, merge_errors, write_errors


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


def test_what_people_wrote_stays_byte_for_byte() -> None:
    before = PACKAGED.read_bytes()
    known = load_planning_errors()[0].name
    merged = merge_errors(before, [distilled(), distilled(known)], PACKAGED)
    assert merged.text.encode().startswith(before)
    assert (merged.added, merged.kept, merged.replaced) == (["stale_source"], [known], [])


def test_an_untouched_error_is_replaced_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled(), distilled("second"))
    text = path.read_text() + "\n# a remark at the end\n"
    path.write_text(text)
    merged = write_errors(path, [distilled(text="Another wording.")])
    assert merged.replaced == ["stale_source"]
    assert "Another wording." in path.read_text()
    assert path.read_text().endswith("\n# a remark at the end\n")
    assert [error.name for error in load_planning_errors(path)] == ["stale_source", "second"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("takes a figure", "takes a number"),
        ("a: b", "a: better"),
        ("Stale source", "Stale sources"),
        ("    failures:", "    # think of tables\n    failures:"),
    ],
)
def test_an_error_that_a_person_touched_is_kept(tmp_path: Path, old: str, new: str) -> None:
    path = file_with(tmp_path, distilled())
    edited = path.read_text().replace(old, new, 1)
    path.write_text(edited)
    merged = write_errors(path, [distilled(text="Another wording.")])
    assert (merged.kept, merged.replaced) == (["stale_source"], [])
    assert path.read_text() == edited


def test_other_line_breaks_are_no_edit(tmp_path: Path) -> None:
    long = " ".join(["A plan that goes on and on without a check of what it was given"] * 4)
    path = file_with(tmp_path, distilled(text=long))
    lines = path.read_text().splitlines(True)
    first = next(at for at, line in enumerate(lines) if "A plan that" in line)
    moved = lines[first].rstrip("\n").rsplit(" ", 1)
    lines[first : first + 1] = [moved[0] + "\n", "      " + moved[1] + "\n"]
    path.write_text("".join(lines))
    assert write_errors(path, [distilled()]).replaced == ["stale_source"]


def test_what_a_person_took_out_stays_out_and_obsolete_ones_go(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled("first"), distilled("second"))
    merged = write_errors(path, [distilled("third")], removed=["third"], obsolete=["first"])
    assert merged.removed == ["third"]
    assert [error.name for error in load_planning_errors(path)] == ["second"]


def test_an_obsolete_error_that_a_person_changed_stays(tmp_path: Path) -> None:
    path = file_with(tmp_path, distilled("first"), distilled("second"))
    path.write_text(path.read_text().replace("a: b", "mine", 1))
    write_errors(path, [], obsolete=["first"])
    assert [error.name for error in load_planning_errors(path)] == ["first", "second"]


def test_a_file_that_is_edited_while_it_is_written_is_merged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file_with(tmp_path, distilled("first"))
    real, edits = written_errors.merge_errors, iter(["a: mine"])

    def merge(*arguments: object) -> object:
        found = real(*arguments)  # type: ignore[arg-type]
        for edit in edits:
            path.write_text(path.read_text().replace("a: b", edit))
        return found

    monkeypatch.setattr(written_errors, "merge_errors", merge)
    merged = write_errors(path, [distilled("first", "Reworded."), distilled("second")])
    assert (merged.kept, merged.added) == (["first"], ["second"])
    assert "a: mine" in path.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "version: 1\nerrors: [{name: a, description: b, failures: [a, b], successes: [c]}]\n",
            "one '- name",
        ),
        ("version: 1\nerrors:\n  - name: Bad Name\n", ":3: "),
        ("version: 1\nerrors: {", "not YAML"),
        ("\xff", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_merged_with_is_refused_and_left_alone(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "errors.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(KnowledgeError, match=r"errors\.yaml") as refused:
        write_errors(path, [distilled()])
    assert said in str(refused.value)
    assert path.read_bytes() == text.encode("latin-1")


def test_the_form_of_the_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "errors.yaml"
    item = "- name: own\n  description: d\n  failures: [a, b]\n  successes: [c]\n"
    path.write_bytes(f"errors:\n{item}version: 1\n".replace("\n", "\r\n").encode())
    path.chmod(0o640)
    write_errors(path, [distilled()])
    raw = path.read_bytes().decode()
    assert raw.count("\r\n") == raw.count("\n")
    assert raw.endswith("version: 1\r\n")
    assert [error.name for error in load_planning_errors(path)] == ["own", "stale_source"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"))).filter(str.strip))
def test_any_text_comes_back_as_it_was_written(text: str) -> None:
    error = distilled(text=text)
    found = planning_errors_in(f"version: 1\nerrors:\n{block(error)}", Path("x.yaml"))
    assert found[0].text_hash() == error.text_hash()
