"""The packaged planning errors, a person's own, and files that are refused with their line."""

import os
from pathlib import Path

import pytest

from forethought.json_files import FileError
from forethought.knowledge.planning_errors import (
    PACKAGED,
    Pattern,
    PlanningError,
    load_planning_errors,
)

MINE = """\
version: 1
errors:
  - name: stale_source
    description: The plan takes an old figure for today's.
    failures:
      - The plan read last year's table; the figure had changed.
      - text: The plan quoted an archived page.
        provenance: {source: our own runs}
    successes:
      - The plan asked for the table's date first.
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "errors.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        load_planning_errors(path)
    return str(caught.value)


def test_the_packaged_errors_are_the_papers_three() -> None:
    assert [error.name for error in load_planning_errors()] == [
        "insufficient_constraint_verification",
        "ineffective_tool_selection",
        "shallow_content_verification",
    ]


@pytest.mark.parametrize("error", load_planning_errors(), ids=lambda error: error.name)
def test_each_packaged_error_has_sourced_patterns_of_both_kinds(error: PlanningError) -> None:
    assert len(error.description) > 200
    for patterns, outcome in ((error.failures, "failure"), (error.successes, "success")):
        assert len(patterns) >= 4
        assert len({pattern.text for pattern in patterns}) == len(patterns)
        for pattern in patterns:
            assert 150 < len(pattern.text) < 700
            assert pattern.provenance is not None
            assert pattern.provenance.source == "https://github.com/noahshinn/reflexion"
            assert (pattern.provenance.file or "").startswith("hotpotqa_runs/root/ReAct/")
            assert pattern.provenance.question
            assert pattern.provenance.trial
            assert pattern.provenance.outcome == outcome


def test_packaged_patterns_do_not_name_what_their_question_is_about() -> None:
    """A pattern is to match any plan, so no name out of its source question may be left in it."""
    for error in load_planning_errors():
        for pattern in error.failures + error.successes:
            assert pattern.provenance is not None
            words = (pattern.provenance.question or "").replace('"', "").split()[1:]
            names = {word.strip("',?").removesuffix("'s") for word in words if word[0].isupper()} - {"The"}
            assert not names & set(pattern.text.split()), pattern.text


def test_turn_one_is_shown_two_failures_and_turn_two_everything() -> None:
    error = load_planning_errors()[0]
    failures, successes = ([item.text for item in items] for items in (error.failures, error.successes))
    shown = {"name": error.name, "description": error.description}
    assert error.brief() == {**shown, "sign": error.sign, "failures": failures[:2]}
    assert error.full() == {**shown, "failures": failures, "successes": successes}


def test_a_person_may_write_bare_text_and_little_provenance(tmp_path: Path) -> None:
    (error,) = load_planning_errors(written(tmp_path, MINE))
    assert error.failures[0] == Pattern(text="The plan read last year's table; the figure had changed.")
    assert error.failures[1].provenance is not None
    assert error.failures[1].provenance.source == "our own runs"
    assert error.successes[0].provenance is None


def test_plain_values_are_text_whatever_yaml_would_make_of_them(tmp_path: Path) -> None:
    text = MINE.replace("The plan asked for the table's date first.", "2024-01-01")
    assert load_planning_errors(written(tmp_path, text))[0].successes[0].text == "2024-01-01"


def test_an_error_added_to_the_packaged_file_is_there_on_the_next_load(tmp_path: Path) -> None:
    path = written(tmp_path, PACKAGED.read_bytes())
    assert load_planning_errors(path) == load_planning_errors()
    path.write_bytes(PACKAGED.read_bytes() + b"\n" + MINE.split("errors:\n")[1].encode())
    assert [error.name for error in load_planning_errors(path)][3:] == ["stale_source"]


def test_an_unchanged_file_is_parsed_once_and_an_edit_of_the_same_size_is_seen(tmp_path: Path) -> None:
    path = written(tmp_path, MINE)
    first = load_planning_errors(path)
    assert load_planning_errors(path) is first
    written(tmp_path, MINE.replace("stale_source", "older_source"))
    os.utime(path, ns=(1, 1))
    assert load_planning_errors(path)[0].name == "older_source"


def edited(old: str, new: str) -> str:
    assert MINE.count(old) == 1
    return MINE.replace(old, new)


REFUSED: list[tuple[str, str, int, str]] = [
    ("empty", "# nothing\n\n", 1, "empty"),
    ("unclosed bracket", edited("{source: our own runs}", "{source: our own runs"), 9, "not YAML"),
    ("key twice", edited("    successes:", "    description: Again.\n    successes:"), 9, "appears twice"),
    ("no version", edited("version: 1\n", ""), 1, "lacks 'version'"),
    ("an error that is text", "version: 1\nerrors:\n  - a\n", 3, "errors.0: "),
    ("name with a space", edited("stale_source", "stale source"), 3, "snake_case"),
    ("unknown field", edited("    successes:", "    grave: yes\n    successes:"), 9, "no field 'grave'"),
    (
        "one failure",
        edited("- The plan read last year's table; the figure had changed.", ""),
        5,
        "at least 2",
    ),
    ("no text", edited("text: The plan quoted an archived page.\n        ", ""), 7, "lacks 'text'"),
    ("unknown outcome", edited("our own runs}", "x, outcome: maybe}"), 8, "outcome"),
    ("the topmost of two slips", edited("stale_source", "X").replace("successes", "s"), 3, "snake_case"),
    ("name twice", MINE + MINE.split("errors:\n")[1], 1, "'stale_source' is used twice"),
]


@pytest.mark.parametrize(
    ("text", "line", "reason"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_a_bad_file_is_refused_in_one_line_with_the_place(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = written(tmp_path, text)
    message = refusal(path)
    assert message.startswith(f"{path}:{line}: ")
    assert reason in message.removeprefix(str(path))
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("name", ["absent.yaml", ""])
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path / name)
    assert "cannot be read" in message
    assert len(message.splitlines()) == 1
