"""What of a plan's author's words says that a sign bears on the task."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.nodes.support.sign_verdicts import unheeded
from forethought.prompts.replies import SignVerdict

SIGN: Any = {
    "kind": "exception", "place": "a.txt", "text": "except rugs", "more": 0, "origin": "file:a.txt",
}  # fmt: skip
STATE: Any = {"look": {"files": [], "unseen": 0, "signs": [SIGN], "more_signs": 0}}


def bears(words: str, sign: str = "S1") -> bool:
    verdict = SignVerdict(sign=sign, bears=words, handled_by="")
    return bool(unheeded([verdict], STATE, {"a"}))


@pytest.mark.parametrize(
    "words",
    ["", "no", "No.", "no (another year)", "None", "n/a", "nein", "no effect on the sum", "not relevant here",
     "does not apply", "it doesn't matter", "-"],
)  # fmt: skip
def test_what_does_not_bear(words: str) -> None:
    assert not bears(words)


@pytest.mark.parametrize(
    "words",
    ["no discount on rugs", "-10% on late invoices", "(net prices, so add VAT)", "; leaves row 4 out",
     "note 3 applies", "rugs are left out"],
)  # fmt: skip
def test_what_bears(words: str) -> None:
    assert bears(words)


@pytest.mark.parametrize("sign", ["S1", "s1", "S1:", "1", "S1, exception"])
def test_a_sign_is_named_by_its_number(sign: str) -> None:
    assert bears("rugs are left out", sign)


def test_another_number_is_no_sign() -> None:
    assert not bears("rugs are left out", "S2")
