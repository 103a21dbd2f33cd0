"""Proposed planning errors: only new ones, only added, and listed for a person."""

from __future__ import annotations

from pathlib import Path

from forethought.lessons.proposals import Proposal, candidates, propose, read_proposals


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


def test_only_what_is_new_is_added(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "proposed.jsonl"
    propose(path, [proposal("Unread index"), proposal(" SHALLOW-check ")], ["shallow_check"])
    propose(path, [proposal("unread_index"), proposal("???")], [])
    propose(path, [proposal("unread index", thread="u")], [])
    assert [item.thread for item in read_proposals(path)] == ["t", "u"]
    assert path.stat().st_mode & 0o077 == 0


def test_what_most_tasks_named_comes_first_and_the_known_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    named = [("Rare", "a"), ("Often", "a"), ("often", "b"), ("Often", "b"), ("Known", "a")]
    propose(path, [proposal(kind, thread) for kind, thread in named], [])
    found = candidates(path, ["known"])
    assert [(item.error_type, item.tasks) for item in found] == [("often", 2), ("rare", 1)]


def test_what_looks_like_the_end_of_a_line_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    propose(path, [proposal("Unread index", evidence="step 2\u2028says so")], [])
    assert [item.evidence for item in read_proposals(path)] == ["step 2\u2028says so"]
