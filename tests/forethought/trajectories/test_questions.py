"""Whether two texts ask the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forethought.trajectories.questions import Questions, fingerprint, normalised, read_questions

LONG = "In which year was the older of the two bridges built?"


def test_case_accents_punctuation_and_spaces_do_not_count() -> None:
    assert normalised("  Où est l’Éclair?\n") == normalised("ou EST léclair")
    assert fingerprint(LONG) == fingerprint(LONG.upper().replace("?", " ..."))
    assert fingerprint(LONG) != fingerprint(LONG.replace("older", "younger"))


@pytest.mark.parametrize(
    ("task", "held"),
    [
        (LONG.lower(), True),
        (f"Answer briefly. {LONG} Use the files.", True),
        ("year was the older of the two bridges built", True),
        ("Why so?", True),
        ("Tell me: Why so?", False),
        (LONG.replace("older", "younger"), False),
        ("In which year was the oldest of the two bridges built?", False),
    ],
)
def test_a_question_is_recognised_in_other_words_around_it_but_not_a_short_one(task: str, held: bool) -> None:
    assert Questions([LONG, "Why so?", "  "]).hold(task) is held


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.txt", f"{LONG}\n\nWhy so?\n"),
        ("q.jsonl", "\n".join(json.dumps({"id": n, "task": t}) for n, t in enumerate([LONG, "Why so?"]))),
        ("q.json", json.dumps({"data": [{"question": LONG, "answer": "1900"}, {"Question": "Why so?"}]})),
        ("q2.json", json.dumps([LONG, "Why so?"])),
    ],
)
def test_questions_are_read_from_the_usual_forms(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert read_questions(path) == [LONG, "Why so?"]


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"a": 1}')
    with pytest.raises(ValueError, match="no questions in it"):
        read_questions(path)
