"""Exact match and F1, as HotpotQA and MuSiQue have them. Agreement with the official code is measured by
benchmarks/agreement.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.evals.benchmarks.answer_metrics import (
    exact_match,
    hotpotqa_overlap,
    musique_exact_match,
    musique_f1,
    normalised,
)

TEXT = st.text(alphabet=st.sampled_from("aeth no.yes,'-\u2019\u0130\u00df9\n\u2028"), max_size=30) | st.text()


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


@given(TEXT, TEXT)
@settings(max_examples=150)
def test_whatever_is_said_has_a_score_from_0_to_1(answer: str, accepted: str) -> None:
    overlap = hotpotqa_overlap(answer, accepted)
    for figure in (overlap.f1, overlap.precision, overlap.recall, musique_f1(answer, [accepted, answer])):
        assert 0 <= figure <= 1
    assert exact_match(answer, answer)
    assert musique_f1(answer, [accepted, answer]) == 1.0
    if exact_match(answer, accepted) and normalised(accepted):
        assert overlap.f1 == 1.0
    assert hotpotqa_overlap(accepted, answer).f1 == pytest.approx(overlap.f1)
