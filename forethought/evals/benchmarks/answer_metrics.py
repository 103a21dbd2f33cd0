"""Exact match and F1 of short answers, as the evaluation scripts of HotpotQA and MuSiQue compute them.

Both compare after SQuAD's normalisation. They differ in one place: HotpotQA gives no partial credit where
either side is yes, no or noanswer; MuSiQue counts two empty answers as equal and takes the best of the
accepted answers.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})


@dataclass(frozen=True)
class Overlap:
    """How the words of an answer and of an accepted one overlap, each from 0 to 1."""

    f1: float
    precision: float
    recall: float


_NONE = Overlap(0.0, 0.0, 0.0)


def normalised(answer: str) -> str:
    """Lower case, without ASCII punctuation and English articles, one space between words (SQuAD)."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, accepted: str) -> bool:
    """Whether the two are the same once normalised."""
    return normalised(answer) == normalised(accepted)


def hotpotqa_overlap(answer: str, accepted: str) -> Overlap:
    """F1, precision and recall of the words; a yes, no or noanswer on either side is right or wrong whole."""
    words, reference = normalised(answer), normalised(accepted)
    if words != reference and (words in _CLOSED or reference in _CLOSED):
        return _NONE
    return _overlap(words.split(), reference.split())


def musique_exact_match(answer: str, accepted: Sequence[str]) -> bool:
    """Whether the answer is one of the accepted ones, aliases among them, once normalised."""
    return any(exact_match(answer, each) for each in accepted)


def musique_f1(answer: str, accepted: Sequence[str]) -> float:
    """The best F1 over the accepted answers; two answers without any word agree."""
    words = normalised(answer).split()

    def one(reference: Sequence[str]) -> float:
        return _overlap(words, reference).f1 if words and reference else float(words == reference)

    return max(one(normalised(each).split()) for each in accepted)


def _overlap(words: Sequence[str], reference: Sequence[str]) -> Overlap:
    common = (Counter(words) & Counter(reference)).total()
    if not common:
        return _NONE
    precision, recall = common / len(words), common / len(reference)
    return Overlap(2 * precision * recall / (precision + recall), precision, recall)
