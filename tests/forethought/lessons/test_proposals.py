"""Proposed planning errors: only new ones, only added, and listed for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought.lessons.proposals import Proposal, candidates, plain_name, propose, read_proposals


def proposal(kind: str, thread: str = "t", number: int = 1, evidence: str = "step 2") -> Proposal:
    """One naming."""
    return Proposal(
        error_type=kind,
        evidence=evidence,
        by="reflector",
        thread=thread,
        number=number,
        origin="user",
        time="2026-05-01T00:00:00+00:00",
    )


@pytest.mark.parametrize("name", ["Shallow check", "shallow_check", " shallow-check ", "SHALLOW  CHECK"])
def test_names_are_compared_without_their_dress(name: str) -> None:
    assert plain_name(name) == "shallow_check"


def test_only_what_is_new_is_added(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "proposed.jsonl"
    assert propose(path, [proposal("Unread index"), proposal("Shallow check")], ["shallow_check"]) == 1
    assert propose(path, [proposal("unread_index"), proposal("???")], []) == 0
    assert propose(path, [proposal("unread index", thread="u")], []) == 1
    assert [item.thread for item in read_proposals(path)] == ["t", "u"]
    assert path.stat().st_mode & 0o077 == 0


def test_nothing_new_makes_no_file(tmp_path: Path) -> None:
    assert propose(tmp_path / "p.jsonl", [], []) == 0
    assert not (tmp_path / "p.jsonl").exists()


def test_what_most_tasks_named_comes_first_and_the_known_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    named = [("Rare", "a"), ("Often", "a"), ("often", "b"), ("Often", "b"), ("Known", "a")]
    propose(path, [proposal(kind, thread) for kind, thread in named], [])
    found = candidates(path, ["known"])
    assert [(item.error_type, item.tasks) for item in found] == [("often", 2), ("rare", 1)]


def test_a_line_of_another_hand_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    propose(path, [proposal("Unread index")], [])
    path.write_text("# my notes\n{}\n" + path.read_text() + "\xff\n")
    assert len(read_proposals(path)) == 1


def test_evidence_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    propose(path, [proposal("Unread index", evidence="e" * 9_000)], [])
    assert len(read_proposals(path)[0].evidence) == 600


@pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0c"])
def test_what_looks_like_the_end_of_a_line_loses_nothing(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "p.jsonl"
    propose(path, [proposal("Unread index", evidence=f"step 2{separator}says so")], [])
    assert [item.evidence for item in read_proposals(path)] == [f"step 2{separator}says so"]
    assert propose(path, [proposal("Unread index")], []) == 0
