"""Signs: lines of files that by their form may decide a task, and that a hasty reader passes by.

They are found by rules, without a model: by marks that no language owns (a hidden sheet, a comment, a speaker
note, a footnote, a line unlike all others; see also `nodes.support.table_signs`) and by words
(`knowledge/sign_words.yaml`). Each is marked in the text at its end. What it means, a model judges.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from forethought.nodes.support.sign_kinds import COMMON, Found, kind_of
from forethought.nodes.support.table_signs import table_signs
from forethought.tools.documents.document import Document, split_header

MARK = "[sign: "
MOST_OF_A_KIND = 6
"""Maximum signs of a kind in one file."""
_MOST_COMMON = 3
"""Maximum signs of a common kind in a file; more of them mean nothing."""
SCANNED_CHARACTERS = 300_000
"""Of one file."""
_LOG_LINES, _MOST_ALARMS = 200, 20
"""Lines of a text that may be a log, and lines of errors from which they are usual in it."""
_ALARMS = ("ERROR", "FATAL", "CRITICAL", "SEVERE", "PANIC", "EMERG", "Traceback", "Exception")
_ALARM = re.compile(rf"\b(?:{'|'.join(_ALARMS[:-1])}|[A-Z]\w*Exception)\b")
_LISTS = {
    "comments on cells:": "comment", "comments:": "comment",
    "footnotes:": "footnote", "endnotes:": "footnote",
}  # fmt: skip
"""Headings of the readers' own additions to a document's text."""
_HIDDEN = re.compile(r"Hidden (?:rows|columns): ")
_NOTES = "Speaker notes: "
_MARK = re.compile(
    r"(?:[-|] )?(\*{1,3}(?!_)|[†‡§¹²³⁴-⁹]|\^\w{1,2}\^?|\([*?!+#]{1,3}\)|\[\^\w{1,2}\]|\d\))(?=.*\w)"
)
_MOST_MARKS = 30
_MOST_NOTES = 2
"""Maximum lines that begin with one footnote mark; more of them are a list."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“(\[]?[A-ZÄÖÜ\d])")
_WRAPPED = 50
"""Minimum length of a line that continues in the next, if that begins with a small letter."""
_VERSION_MARK = re.compile(
    r"[\s.(-]*(?:\bv(?:ersion)?[\s.-]?\d+(?:\.\d+)*|\brev(?:ision|ised)?[\s.-]?\d*|\(\d+\)|\b(?:final|draft|new|old|"
    r"copy|corrected|amended|updated|addendum|erratum|neu|alt|entwurf|kopie|korrigiert)\b)\)?"
)


def marked(document: Document) -> tuple[str, int]:
    """The document's text with its signs marked, and how many there are: at most MOST_OF_A_KIND of each."""
    found: list[Found] = []
    at = 0
    for section in document.sections:
        if section.heading:
            at += len(section.heading)
            if section.heading.rstrip(")").endswith(", hidden"):
                found.append(Found("hidden", section.heading, at))
            at += 2 if section.text else 0
        if at < SCANNED_CHARACTERS:
            text = section.text[: SCANNED_CHARACTERS - at]
            if len(text) < len(section.text):
                text = text.rpartition("\n")[0]  # half a line would be an odd one
            found += (item._replace(end=at + item.end) for item in _section_signs(text, document.unit))
        at += len(section.text) + (2 if section.heading or section.text else 0)
    found += _alarms(document.text)
    text, few = document.text, _few(found)
    for item in sorted(few, key=lambda item: -item.end):
        text = f"{text[: item.end]} {mark_of(item.kind)}{text[item.end :]}"
    return text, len(few)


def _alarms(text: str) -> list[Found]:
    """The few lines of a log that report an error: none if there are many, or if the text is short."""
    if text.count("\n") < _LOG_LINES or not any(word in text for word in _ALARMS):
        return []
    ends = {(text.find("\n", hit.end()) + 1 or len(text) + 1) - 1 for hit in _few_hits(text)}
    lines = [(text.rfind("\n", 0, end) + 1, end) for end in sorted(ends)]
    return [Found("odd line", text[start:end], end) for start, end in lines]


def _few_hits(text: str) -> list[re.Match[str]]:
    hits = list(islice(_ALARM.finditer(text), _MOST_ALARMS + 1))
    return hits if len(hits) <= _MOST_ALARMS else []


def mark_of(kind: str) -> str:
    """How a sign is marked."""
    return f"{MARK}{kind}]"


def other_versions(names: Sequence[str]) -> dict[str, list[str]]:
    """By file those whose names differ from its own by a version's mark only."""
    by_stem: dict[str, list[str]] = {}
    for name in names:
        stem = _VERSION_MARK.sub("", name.rpartition(".")[0].lower().replace("_", " ")).strip(" .-")
        by_stem.setdefault(stem, []).append(name)
    groups = [group for stem, group in by_stem.items() if stem and len(group) > 1]
    return {name: [other for other in group if other != name] for group in groups for name in group}


def _few(found: Iterable[Found]) -> list[Found]:
    """Of those that are alike the first, and of each kind the first ones."""
    kept: dict[tuple[str, str], Found] = {}
    counts = Counter[str]()
    for item in found:
        key = (item.kind, item.like or item.text.casefold())
        counts[item.kind] += 1
        if key not in kept and sum(kind == item.kind for kind, _ in kept) < MOST_OF_A_KIND:
            kept[key] = item
    silent = {kind for kind in COMMON if counts[kind] > _MOST_COMMON}
    return [item for item in kept.values() if item.kind not in silent]


def _section_signs(text: str, unit: str) -> Iterator[Found]:
    marks = _footnote_marks(text)
    rare = unit == "sheet" or _sentences_are_rare(text)
    at = 0
    for block in text.split("\n\n"):
        table = split_header(block)
        for item in table_signs(*table) if table else _text_signs(block, marks, rare):
            yield item._replace(end=at + item.end)
        at += len(block) + 2


def _footnote_marks(text: str) -> set[str]:
    """Marks that one or two lines begin with and that a word or a figure carries; no list, no emphasis."""
    begun = (mark for line in text.split("\n") if (mark := _MARK.match(line)))
    starts = Counter(mark[1] for mark in begun if mark[1] not in mark.string[mark.end() :])
    return {
        mark
        for mark, times in list(starts.items())[:_MOST_MARKS]
        if times <= _MOST_NOTES and re.search(rf"[\w.,)%€$\"”] ?{re.escape(mark)}(?![\w*])", text)
    }


def _text_signs(block: str, marks: set[str], rare: bool) -> Iterator[Found]:
    """The signs of paragraphs and lists."""
    title, *items = block.split("\n")
    if kind := _LISTS.get(title.strip().lower()):
        end = len(title)
        for item in items:
            end += 1 + len(item)
            yield Found(kind, item, end)
        return
    if block.startswith(_NOTES):
        yield Found("speaker note", block, len(block.rstrip()))
        return
    odd = _odd_lines([title, *items])
    for first, sentence, end in _sentences(block):
        mark = _MARK.match(sentence) if first else None
        if _HIDDEN.match(sentence):
            yield Found("hidden", sentence, end)
        elif mark and mark[1] in marks and mark[1] not in sentence[mark.end() :]:
            yield Found("footnote", sentence, end)
        elif sentence in odd:
            yield Found("odd line", sentence, end)
        elif hit := kind_of(sentence):
            yield Found(hit[0], sentence, end)
        elif rare and _is_sentence(sentence):
            yield Found("remark", sentence, end)


def _sentences_are_rare(text: str) -> bool:
    """Whether a text is lines of data, as a roster is, with a few sentences at most."""
    units = [
        unit for block in text.split("\n\n") if not split_header(block) for _, unit, _ in _sentences(block)
    ]
    number = sum(map(_is_sentence, units))
    return 0 < number <= _MOST_COMMON and len(units) >= 3 * number and len(units) - number >= 3


def _is_sentence(unit: str) -> bool:
    return unit.endswith((".", "!", "?")) and len(unit.split()) > 3


def _odd_lines(lines: Sequence[str]) -> set[str]:
    """The few lines that differ in more than figures where all others do not, as in a log."""
    forms = [re.sub(r"\d+", "0", line) for line in lines]
    usual, count = Counter(forms).most_common(1)[0]
    if len(lines) < 10 or count < 0.8 * len(lines):
        return set()
    return {line.strip() for line, form in zip(lines, forms, strict=True) if form != usual}


def _sentences(block: str) -> Iterator[tuple[bool, str, int]]:
    """The sentences and list items of a block: whether each begins a line, and where it ends. Wrapped lines
    are joined."""
    joined, *lines = block.split("\n")
    before = joined
    for line in lines:
        goes_on = len(before) >= _WRAPPED and line.lstrip()[:1].islower()
        joined, before = f"{joined}{' ' if goes_on else chr(10)}{line}", line
    at = 0
    for line in joined.split("\n"):
        start = 0
        for end, following in [*(gap.span() for gap in _SENTENCE_END.finditer(line)), (len(line), 0)]:
            if sentence := line[start:end].strip():
                yield start == 0, sentence, at + len(line[:end].rstrip())
            start = following
        at += len(line) + 1
