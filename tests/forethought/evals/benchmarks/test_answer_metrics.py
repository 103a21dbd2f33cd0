"""Exact match and F1, as HotpotQA and MuSiQue have them. Agreement with the official code is measured by
benchmarks/agreement.py."""

from __future__ import annotations

import pytest

from forethought.evals.benchmarks.answer_metrics import (
    hotpotqa_overlap,
    musique_exact_match,
    musique_f1,
    normalised,
)


def test_normalisation() -> None:
    texts = ("The  Old Bridge.", "a.b an-other", "THE", "theatre", "it\u2019s", "U.S.")
    assert [normalised(text) for text in texts] == [
        "old bridge",
        "ab another",
        "",
        "theatre",
        "it\u2019s",
        "us",
    ]


@pytest.mark.parametrize(
    ("answer", "accepted", "f1", "precision", "recall"),
    [
        ("Old Bridge of Ulm", "the Old Bridge", 2 / 3, 1 / 2, 1.0),
        ("yes", "yes", 1.0, 1.0, 1.0),
        ("yes, it is", "yes", 0.0, 0.0, 0.0),
        ("no", "no one", 0.0, 0.0, 0.0),
        ("noanswer", "an answer", 0.0, 0.0, 0.0),
        ("", "the", 0.0, 0.0, 0.0),
        ("b b", "b", 2 / 3, 1 / 2, 1.0),
    ],
)
def test_overlap_of_hotpotqa(answer: str, accepted: str, f1: float, precision: float, recall: float) -> None:
    found = hotpotqa_overlap(answer, accepted)
    assert (found.f1, found.precision, found.recall) == pytest.approx((f1, precision, recall))


def test_musique_takes_the_best_alias_and_two_empty_answers_agree() -> None:
    accepted = ["Federal Republic of Germany", "Germany", "BRD"]
    assert musique_exact_match("the BRD", accepted)
    assert not musique_exact_match("German", accepted)
    assert musique_f1("Republic of Germany", accepted) == pytest.approx(6 / 7)
    assert (musique_f1("the", ["a"]), musique_f1("", ["Ulm"])) == (1.0, 0.0)
