"""YAML read as plain text with lines: what it gives, where it says things are, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.knowledge.marked_yaml import MarkedYaml, MarkedYamlError


def test_scalars_stay_the_text_that_was_written() -> None:
    document = MarkedYaml("a: yes\nb: 1.10\nc: 2024-02-30\nd:\ne: '~'\n")
    assert document.data == {"a": "yes", "b": "1.10", "c": "2024-02-30", "d": None, "e": "~"}


def test_every_part_has_its_line_and_a_missing_one_that_of_the_nearest_part_above() -> None:
    document = MarkedYaml("# note\na:\n  - x\n  -\n    b: >-\n      long\n      text\nc: 1\n")
    assert document.line(("a",)) == 2
    assert document.line(("a", 0)) == 3
    assert document.line(("a", 1, "b")) == 5
    assert document.line(("a", 1, "absent", "deeper")) == 5
    assert document.line(("c",)) == 8
    assert document.line(()) == 2


def test_an_empty_document_has_no_data() -> None:
    assert MarkedYaml("# only a comment\n").data is None
    assert MarkedYaml("# only a comment\n").line(("errors", 0)) == 1


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: [1, 2\n", 3, "not YAML"),
        ("a: 1\n\tb: 2\n", 2, "not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "single document"),
        ("a: 1\na: 2\n", 2, "appears twice"),
        ("a: 1\n? [x]\n: 2\n", 2, "key must be plain text"),
        ("a: 1\nb: !!python/object/apply:os.getcwd []\n", 2, "tag"),
        ("a: 1\nb: !secret x\n", 2, "tag"),
        ("a: &x [1]\nb: 2\nc: *x\n", 1, "alias"),
        ("a: &x [*x]\n", 1, "alias"),
        ("a: 1\nb: *unknown\n", 2, "not YAML"),
        ("a: 1\nb: \x07\n", 2, "not allowed"),
        ('a: 1\nb: "\\UFFFFFFFF"\n', 2, "not YAML"),
        ("\n" + "[" * 5000, 2, "nesting"),
    ],
)
def test_refusals_say_where_and_why(text: str, line: int, reason: str) -> None:
    with pytest.raises(MarkedYamlError) as caught:
        MarkedYaml(text)
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_nested_aliases_are_refused_and_not_expanded() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    with pytest.raises(MarkedYamlError, match="alias"):
        MarkedYaml(f"l0: &l0 [x]\n{levels}\n")


@given(st.one_of(st.text(), st.text(alphabet=" \n:-[]{}&*!|>%@'\"\\?,#ab0Ux~=<\t")))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = MarkedYaml(text)
    except MarkedYamlError as error:
        line = error.line
    else:
        line = document.line(())
        assert document.data is None or isinstance(document.data, str | list | dict)
    # A parser sees a line end in any character that Unicode calls one, and may stop past the last.
    assert 1 <= line <= len(text.splitlines()) + 1
