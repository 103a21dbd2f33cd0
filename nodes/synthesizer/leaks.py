"""Whether a reflection gives the reference away (SAMULE 3.2.1: it is compared with, never quoted).

A model that is trained on the reflections has no reference to compare with, and an agent that is given one
must not find the answer in it. So a text is refused where it holds the reference, in whatever case, with or
without accents and punctuation, a number of it in whatever notation, or several words in a row of a long one.
What the task itself says, and answers such as yes or no, stand in many innocent sentences; of them only the
statement that they are the answer is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from forethought.trajectories.questions import framed, normalised, word_sequences

COPIED_WORDS = 6
"""Consecutive words that a reflection may not share with a long reference, unless the trial has them."""
LONG_WORDS = 9
"""Words from which a reference counts as a text, not an answer."""
_UNIT_WORDS = 3
"""Words with a number among them that are a quantity, such as 12 km or about 3 000 dollars."""
_TELLING_DIGITS = 3
_BLAND = frozenset(
    "yes no true false none neither both all nothing unknown same more less left right".split()  # noqa: SIM905
)
_STEPS = re.compile(
    r"\b(?:steps?|trials?|rounds?|attempts?)\s+\d+(?:\s*(?:,|;|-|–|to|and|or|through)\s*\d+)*", re.IGNORECASE
)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, written without spaces between words."""
_LISTED = re.compile(r"(?m)^\s*\(?\d{1,2}[.)]\s")
_NAMED = re.compile(
    r"\b(?:(?:reference|gold(?:en)?|ground[ -]truth|annotated)\s+(?:answer|output|plan|result|solution)|"
    r"the\s+(?:reference|ground[ -]truth))\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"(?<![\w.])(?P<figure>\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"\s*(?P<scale>%|percent\b|per cent\b|thousand\b|million\b|billion\b|trillion\b|[km]\b)?",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "k": 3, "million": 6, "m": 6, "billion": 9, "trillion": 12}
_UNITS = "one two three four five six seven eight nine".split()  # noqa: SIM905
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_NUMBER_WORDS = {
    **{word: number for number, word in enumerate([*_UNITS[1:], *_TEENS], 2)},  # "one" is seldom a number
    **{ten: number for number, ten in zip(range(20, 100, 10), _TENS, strict=True)},
    **{
        f"{ten}-{unit}": 10 * tens + ones
        for tens, ten in enumerate(_TENS, 2)
        for ones, unit in enumerate(_UNITS, 1)
    },
}


@dataclass(frozen=True)
class References:
    """What no reflection on a task may give away."""

    texts: tuple[str, ...]
    task: str = ""
    trial: str = ""
    """All text of the trial; words of a long reference that occur in it are not secret."""

    def problem(self, reflection: str) -> str | None:
        """How `reflection` gives something away, so that it can be put otherwise; None where it does not."""
        if named := _NAMED.search(reflection):
            return f'it mentions "{named[0]}", which readers will not see: say what went wrong without it'
        text = _LISTED.sub(" ", _STEPS.sub(" ", reflection))
        for reference in self.texts:
            if part := self._given_away(reference, text):
                return (
                    f'it reveals the reference ("{part}"): say how to reach the right result without '
                    "quoting any of it"
                )
        return None

    def _given_away(self, reference: str, text: str) -> str:
        words, plain, task = _bare(reference), framed(text), framed(self.task)
        if not words:
            return ""
        if len(words) == 1 or words in _BLAND or f" {words} " in task:
            # The words alone tell nothing.
            return words if _is_stated(words, plain) else ""
        if f" {words} " in plain or (_UNSPACED.search(words) and words in plain):
            return words
        number = self._number(reference, text)
        if number or words.count(" ") + 1 < LONG_WORDS:
            return number
        # A line or item of two words or more, or words in a row, that neither the task nor the trial says.
        items = [part for part in map(_bare, re.split(r"[\n,;|]", reference)) if " " in part]
        known = f"{task}|{framed(self.trial)}"
        parts = [f" {part} " for part in (*items, *word_sequences(words, COPIED_WORDS))]
        return next((part.strip() for part in parts if part in plain and part not in known), "")

    def _number(self, reference: str, text: str) -> str:
        """A telling number of the reference that stands in the text: any of a quantity; of more words, those
        of three digits or more that neither the task nor, for a long one, the trial has."""
        words = _bare(reference).count(" ") + 1
        known = set(numbers(self.task))
        if words >= LONG_WORDS:
            known |= set(numbers(self.trial))
        telling = {
            value
            for value, written in numbers(reference).items()
            if value not in known
            and (words <= _UNIT_WORDS or sum(char.isdigit() for char in written) >= _TELLING_DIGITS)
        }
        return next((written for value, written in numbers(text).items() if value in telling), "")


def _bare(text: str) -> str:
    """The words, without a leading article."""
    return re.sub(r"^(?:the|an|a) (?=.)", "", normalised(text))


def _is_stated(words: str, plain: str) -> bool:
    """Whether the words are said to be the answer."""
    subject = r"\b(?:answer|result|outcome|value|choice|option|conclusion)\b(?: \w+){0,3}"
    verb = r"(?:is|was|be|been|were|equals?)(?: (?:in|fact|actually|really|simply|just|the|a|an))*"
    demand = r"\b(?:should|must|ought to|had to)(?: have)?(?: (?:answer|repl|conclude)\w*)"
    demand += r"(?: (?:with|that|it|is|was|simply|just|the|a|an))*"
    return bool(re.search(rf"(?:{subject} {verb}|{demand}) {re.escape(words)}\b", plain))


def numbers(text: str) -> dict[Decimal, str]:
    """Each number of `text` and how it is written there. A share has two values: 25 % is 25 and 0.25; so has
    a figure before k or m, which may be a unit."""
    numbers: dict[Decimal, str] = {}
    for match in _FIGURE.finditer(text):
        scale = (match["scale"] or "").lower()
        value = Decimal(re.sub(r"[,'’\u00a0\u202f ]", "", match["figure"]))
        written = match[0].strip()
        power = _SCALES.get(scale, 0)
        if scale in ("", "k", "m", "%", "percent", "per cent"):
            numbers.setdefault(value.normalize(), written)
        if power:
            numbers.setdefault(value.scaleb(power).normalize(), written)
        if scale in ("%", "percent", "per cent"):
            numbers.setdefault((value / 100).normalize(), written)
    spelled = rf"\b(?:(?:{'|'.join(_TENS)})[\s-](?:{'|'.join(_UNITS)})|{'|'.join(_NUMBER_WORDS)})\b"
    for match in re.finditer(spelled, text, re.IGNORECASE):
        value = Decimal(_NUMBER_WORDS[re.sub(r"\s", "-", match[0].lower())])
        numbers.setdefault(value.normalize(), match[0])
    return numbers
