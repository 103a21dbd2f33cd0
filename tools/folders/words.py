"""The words of passages in an index: stems, and numbers and dates in one form.

A text is stemmed in the language of most of its function words. A query is stemmed in every language of the
index, so that it needs no language of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

FUNCTION_WORDS = {
    "english": "the of and to in is that for with on was are this not by be as at it from or",
    "german": "der die und das den von zu mit sich des auf für ist nicht ein eine dem im auch als bei",
    "french": "de la le et les des en un une du est pour que dans qui par sur pas au ce il",
    "spanish": "de la el que y en los del las por con para una se no es al lo su como más",
    "portuguese": "de a o que e do da em um para com não uma os no se na por mais as dos",
    "italian": "di e il la che è per un in del non una sono da le con si dei al nel",
    "dutch": "de het een en van in is dat op te zijn met voor niet aan er om ook als",
}
"""Languages by their commonest words."""
_ENGLISH = frozenset(
    """a an but can could did do does had has have he her his how i if into its me my our she should so than
    their them then there these they those we were what when where which who whose why will would you
    your""".split()  # noqa: SIM905
)
STOP = _ENGLISH.union(
    *(words.split() for words in FUNCTION_WORDS.values()),
    "welche welcher wie was wer wann quel quelle qui cuál quién qué".split(),  # noqa: SIM905
)
"""Words that a query does without."""
_SAMPLE = 5_000
_WORD = re.compile(r"[^\W_]+")
_LEFT_OUT = 60
"""A longer word is base64 or a checksum."""
_JOINED, _DIGIT, _LETTER = re.compile(r"\b\w+(?:[-/.]\w+)+"), re.compile(r"\d"), re.compile(r"[^\W\d_]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_GROUPED = re.compile(
    r"(?<![\w.,])\d{1,3}(?:([.,'\u2019\u00a0\u202f ])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?(?![\d]|[.,]\d)"
)
_DECIMAL = re.compile(r"(?<![\w.,])\d+[.,]\d+(?![\d]|[.,]\d)")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_YEAR_LAST = re.compile(r"(?<=\s)[12]\d{3}(?!\d|[-/.]\d\d?[-/.])")
_BEFORE = 30
"""Characters before a year that may hold its month and day."""
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_YEAR_MONTH = re.compile(r"(?<!\d)([12]\d{3})[-_/.](0[1-9]|1[0-2])(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?!\d)")
_MONTHS = {
    prefix: number
    for number, prefixes in enumerate(
        (
            *("jan ene gen", "feb fev", "mar mae mrt maa", "apr avr abr", "may mai mag mei", "jun giu"),
            *("jul lug", "aug ago aou", "sep set", "oct okt ott out", "nov", "dec dez dic"),
        ),
        1,
    )
    for prefix in prefixes.split()
} | {"juin": 6, "juil": 7}
"""Numbers of months by the first letters of their names."""
_BEFORE_YEAR = re.compile(
    r"(?:(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?)?"
    r"([^\W\d_]{3,10})\.?,?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+|de\s+)?$"
)
_BRITISH = (
    (re.compile(r"is(e[drs]?|ing|ations?)$"), r"iz\1"),
    (re.compile(r"our(s|ed|ing|able|ite)?$"), r"or\1"),
)


def language_of(text: str) -> str:
    """The language with most function words in the text; English if none has any."""
    words = _WORD.findall(text[:_SAMPLE].casefold())
    scores = {name: sum(map(common.__contains__, words)) for name, common in _COMMON.items()}
    return max(scores, key=lambda name: scores[name])


def tokens(text: str, language: str) -> list[str]:
    """The words of `text` as the index holds them: all but its language's function words."""
    text, found = _in_one_form(text)
    for word in _WORD.findall(text):
        found += _kept(word, language)
    return found


def query_terms(text: str, languages: Iterable[str]) -> list[tuple[str, ...]]:
    """The telling words of a query, each with its forms in these languages."""
    languages = tuple(languages) or ("english",)
    text, found = _in_one_form(text)
    terms: list[tuple[str, ...]] = [(token,) for token in found]
    words = _WORD.findall(text)
    for word in [word for word in words if word.casefold() not in STOP] or words:
        forms = dict.fromkeys(form for language in languages for form in _forms(word, language))
        terms.append(tuple(forms))
    return list(dict.fromkeys(term for term in terms if term))


_COMMON = {name: frozenset(words.split()) for name, words in FUNCTION_WORDS.items()}
_COMMON["english"] |= _ENGLISH
_NO_DIGIT = re.compile(r"\D")
_WORD_JOINT = re.compile(r"[-/._]")


def _in_one_form(text: str) -> tuple[str, list[str]]:
    """The text with its numbers in one form, and tokens of its dates and codes."""
    text = unicodedata.normalize("NFKC", text)
    if not any(map(str.isdigit, text)):
        return text, []
    found = list(_dates(text))
    text = _DECIMAL.sub(_plain_number, _GROUPED.sub(_plain_number, text))
    codes = (code for code in _JOINED.findall(text) if _DIGIT.search(code) and _LETTER.search(code))
    return text, [*found, *(_WORD_JOINT.sub("", code).casefold() for code in codes)]


@lru_cache(maxsize=200_000)
def _kept(word: str, language: str) -> tuple[str, ...]:
    """A word as the index holds it; none for a function word or a checksum."""
    if len(word) > _LEFT_OUT or word.casefold() in _COMMON[language]:
        return ()
    return _forms(word, language)


def _forms(word: str, language: str) -> tuple[str, ...]:
    """A word's stem; of Chinese, Japanese and Korean, its pairs of characters."""
    word = word.casefold()
    if word[0].isdigit():
        return (word,)
    if _CJK.match(word):
        return tuple(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
    if language == "english" and len(word) > 5:
        for pattern, spelling in _BRITISH:
            word = pattern.sub(spelling, word)
    return (_without_accents(_stemmer(language).stemWord(word)),)


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(language)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _plain_number(match: re.Match[str]) -> str:
    """'1.234,50' and '1,234.5' as '1234p5'."""
    written = match[0]
    whole, point, rest = written, "", ""
    if match.re is _DECIMAL or (len(written) > 3 and not written[-3:].isdigit()):
        at = max(written.rfind("."), written.rfind(","))
        whole, rest = written[:at], written[at + 1 :].rstrip("0")
        point = "p" if rest else ""
    return _NO_DIGIT.sub("", whole) + point + rest


def _dates(text: str) -> Iterator[str]:
    """Tokens of the text's dates and months."""
    if not _YEAR.search(text):
        return
    for match in _ISO.finditer(text):
        yield from _date(int(match[1]), int(match[2]), int(match[3]))
    for match in _DAY_FIRST.finditer(text):
        yield from _date(int(match[3]), int(match[2]), int(match[1]))
        if match[1] != match[2]:
            yield from _date(int(match[3]), int(match[1]), int(match[2]))
    for year in _YEAR_LAST.finditer(text):
        before = _BEFORE_YEAR.search(text[max(year.start() - _BEFORE, 0) : year.start()])
        name = _without_accents(before[2].casefold()) if before else ""
        if before and (month := _MONTHS.get(name[:4]) or _MONTHS.get(name[:3])):
            yield from _date(int(year[0]), month, int(before[1] or before[3] or 0))


def dates_in(text: str) -> set[str]:
    """Tokens of the dates in a text: 'd20250805', and 'm202508' of their months."""
    return set(_dates(text))


def months_in(text: str) -> set[str]:
    """Tokens of the months of a text's dates, also of names such as `2026-03`."""
    named = {f"m{year}{month}" for year, month in _YEAR_MONTH.findall(text)}
    return named | {token for token in _dates(text) if token[0] == "m"}


def _date(year: int, month: int, day: int) -> Iterator[str]:
    if 1000 <= year <= 2999 and 1 <= month <= 12 and 0 <= day <= 31:
        yield f"m{year}{month:02}"
        if day:
            yield f"d{year}{month:02}{day:02}"
