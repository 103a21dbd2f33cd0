"""Signs: lines of files and of the task that by their form may decide it, and that a hasty reader passes by.

They are found by rules, without a model: by marks that no language owns (a hidden sheet, a comment, a speaker
note, a footnote, a remark in a column of blanks, a word among numbers, two currencies in one column) and by
words (`knowledge/sign_words.yaml`). What they mean, a model judges.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

import yaml

from forethought.state.look import Sign
from forethought.text import one_line
from forethought.tools.documents.document import Document, Section, split_header
from forethought.tools.documents.tables import NUMBER

RANKS = {
    "hidden": 6, "comment": 6, "speaker note": 6, "footnote": 6,
    "exception": 5, "void": 5, "correction": 5, "remark": 5, "version": 4, "odd value": 4,
    "deputy": 3, "unit": 3, "time zone": 3, "provisional": 3, "rule": 3, "definition": 2, "total": 1,
}  # fmt: skip
"""The kinds, and which go first where there are too many."""
MOST_SHOWN = 12
MOST_OF_A_KIND = 4
"""In one file; the last one says how many more there are."""
MOST_OF_A_TASK = 4
SCANNED_CHARACTERS = 300_000
"""Of one file."""
_QUOTE = 160
_BEFORE = 60
"""Characters of a quote before the words that matter."""

_LISTS = {
    "comments on cells:": "comment", "comments:": "comment",
    "footnotes:": "footnote", "endnotes:": "footnote",
}  # fmt: skip
"""How readers of documents head what is not part of the text."""
_HIDDEN = re.compile(r"Hidden (?:rows|columns): ")
_NOTES = re.compile(r"Speaker notes: ")
_FORMS = {
    "unit": re.compile(
        r"(?:EUR|USD|GBP|CHF|JPY|€|\$|£) ?(?:k|K|T|['’]000|000s|m|mn|bn|thousand|million)s?\b(?! \d)|"
        r"\b[kKT](?:€|EUR|USD|GBP|CHF|\$|£)(?!\w)"
    ),
    "time zone": re.compile(r"\b(?:UTC|GMT|CES?T|[EPCM][SD]T|BST|IST|JST|AE[SD]T)\b(?:[+-]\d+)?"),
    "definition": re.compile(r"(?:\A\W*|[\"“”'])[A-Z][\w -]{1,40}[\"“”']? (?:means|bedeutet|bezeichnet)\b"),
    "provisional": re.compile(r"(?<=\w) ?\((?:e|est\.?|p|prov\.?)\)|\best\.(?= ?\d|$)"),
}  # fmt: skip
"""Marks whose case matters, or that no single word shows."""
_MARK = re.compile(
    r"^(?:- )?(\*{1,3}|[†‡§¹²³⁴-⁹]|\^\w{1,2}\^?|\(\*{1,3}\)|\[\^?\w{1,2}\]|\d\))(?=[^\n]*\w)", re.MULTILINE
)
_LINES = re.compile(r"\n(?=\s*(?:[-*•†‡§>#(\[]|\d+[.)]|\w[\w -]{0,24}:))")
_SENTENCES = re.compile(r"(?<=[.!?;])\s+(?=[\"“(\[]?[A-ZÄÖÜ\d])")
_CURRENCY = re.compile(r"\b(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD|CNY|INR)\b|[€$£¥]")
_SAME_CURRENCY = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
_CELLS = re.compile(r"Cells [A-Z]+(\d+):")
_FORMULA = re.compile(r" \(=.*\)\Z")
_BAR = re.compile(r"(?<!\\)\|")
_VERSION_MARK = re.compile(
    r"[\s_.-]*(?:\bv(?:ersion)?[\s._-]?\d+(?:\.\d+)*|\brev(?:ision|ised)?[\s._-]?\d*|\(\d+\)|\b(?:final|draft|new|old|"
    r"copy|corrected|amended|amendment|updated|addendum|erratum|neu|alt|entwurf|kopie|korrigiert)\b)"
)
_CLAUSES = re.compile(r"(?<=[.!?;,])\s+|\n+")


@cache
def _table() -> dict[str, str]:
    """By kind, one pattern of the phrases of all languages, the longest first."""
    text = files("forethought.knowledge").joinpath("sign_words.yaml").read_text("utf-8")
    phrases: dict[str, set[str]] = {}
    for kinds in yaml.safe_load(text).values():
        for kind, words in kinds.items():
            phrases.setdefault(kind, set()).update(words)
    return {
        kind: "|".join(map(_phrase, sorted(words, key=len, reverse=True))) for kind, words in phrases.items()
    }


def _phrase(phrase: str) -> str:
    return re.escape(phrase).replace(r"\ ", r"[\s-]+").replace(r"\*", r"\w*")


@cache
def _words() -> re.Pattern[str]:
    """A group a kind; the kinds that rank higher come first."""
    groups = [f"(?P<{kind.replace(' ', '_')}>{_table()[kind]})" for kind in RANKS if kind in _table()]
    return re.compile(rf"(?<!\w)(?:{'|'.join(groups)})(?!\w)", re.IGNORECASE)


@cache
def _label() -> re.Pattern[str]:
    """How a remark begins: 'Note 2:', '**Important!**', a comment in a source, text that is struck out."""
    label = rf"\W{{0,4}}(?:{_table()['label']})s?\W{{0,2}}\d{{0,2}}\W{{0,2}}[:–—!](?=\W*\w)"
    return re.compile(rf"{label}|<!--|~~\w", re.IGNORECASE)


@cache
def _total() -> re.Pattern[str]:
    return re.compile(rf"(?:{_table()['total row']})(?!\w)", re.IGNORECASE)


@cache
def _condition() -> re.Pattern[str]:
    date = r"\b(?:19|20)\d\d\b|\d{1,2}[./]\d{1,2}[./]|\bQ[1-4]\b"
    return re.compile(rf"(?<!\w)(?:{_table()['condition']})(?!\w)|{date}", re.IGNORECASE)


def document_signs(name: str, document: Document) -> list[Sign]:
    """The signs of the file `name`, in its order: at most MOST_OF_A_KIND of each kind."""
    found = _Found(name)
    left = SCANNED_CHARACTERS
    for section in document.sections:
        if left <= 0:
            break
        _scan_section(section, document.unit, left, found)
        left -= len(section.text)
    return found.signs()


def file_name_signs(names: Sequence[str]) -> list[Sign]:
    """Files whose names differ by a version's mark only."""
    by_stem: dict[str, list[str]] = {}
    for name in names:
        stem = _VERSION_MARK.sub("", name.rpartition(".")[0].lower().replace("_", " ")).strip(" .-")
        by_stem.setdefault(stem, []).append(name)
    return [
        Sign(
            kind="version",
            place="names of the files",
            text=one_line(" / ".join(group), _QUOTE),
            more=0,
            origin=", ".join(f"file:{name}" for name in group),
        )
        for stem, group in by_stem.items()
        if stem and len(group) > 1
    ]


def task_signs(task: str) -> list[Sign]:
    """The conditions of the task: clauses with a date, a limit or a word such as 'only'."""
    found = _Found("task", "user", MOST_OF_A_TASK)
    for clause in _CLAUSES.split(task):
        if match := _condition().search(clause):
            found.add("condition", "", _quote(clause.rstrip(",.;"), match.start()))
    return found.signs()


def chosen(signs: Sequence[Sign], task: str, limit: int = MOST_SHOWN) -> list[Sign]:
    """The `limit` signs that rank highest and share most words with the task, in their order."""
    asked = _stems(task)
    ranks = [RANKS.get(sign["kind"], 0) + min(len(_stems(sign["text"]) & asked), 3) for sign in signs]
    best = sorted(range(len(signs)), key=lambda i: (-ranks[i], i))[:limit]
    return [signs[i] for i in sorted(best)]


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{4,}", text.lower())}


class _Found:
    """The signs of one file so far."""

    def __init__(self, name: str, origin: str = "", most: int = MOST_OF_A_KIND) -> None:
        self._name, self._origin, self._most = name, origin or f"file:{name}", most
        self._signs: dict[tuple[str, str], Sign] = {}

    def add(self, kind: str, place: str, text: str, like: str = "") -> None:
        """A sign at `place`; those of one kind that are `like` each other are one."""
        key = (kind, like or text.casefold())
        if key in self._signs:
            self._signs[key]["more"] += 1
            return
        where = ", ".join(filter(None, (self._name, place)))
        self._signs[key] = Sign(kind=kind, place=where, text=text, more=0, origin=self._origin)

    def signs(self) -> list[Sign]:
        """In order; what is left out of a kind is counted with its last one."""
        kept: dict[str, list[Sign]] = {}
        result = []
        for sign in self._signs.values():
            of_kind = kept.setdefault(sign["kind"], [])
            if len(of_kind) < self._most:
                of_kind.append(sign)
                result.append(sign)
            else:
                of_kind[-1]["more"] += 1 + sign["more"]
        return result


def _scan_section(section: Section, unit: str, limit: int, found: _Found) -> None:
    place = f"{unit} {section.place}" if unit else ""
    if re.search(r", hidden\)?\Z", section.heading):
        found.add("hidden", place, one_line(section.heading.lstrip("# "), _QUOTE))
    text = section.text[:limit]
    marks = {mark for mark in set(_MARK.findall(text)) if _is_referred_to(mark, text)}
    line, first_row = 1, 2
    for block in text.split("\n\n"):
        table = split_header(block)
        if table:
            _scan_table(*table, first_row, place, found)
        elif (lead := _CELLS.fullmatch(block.strip())) is None:
            _scan_text(block, lambda at, line=line: place or f"line {line + at}", marks, found)
        else:
            first_row = int(lead[1]) + 1
        if table:
            first_row = 2
        line += block.count("\n") + 2


def _is_referred_to(mark: str, text: str) -> bool:
    """Whether the mark stands behind a word or a number somewhere, as a footnote's does."""
    return re.search(rf"[\w.,)%€$\"”] ?{re.escape(mark)}(?![\w*])", text) is not None


def _scan_text(block: str, place: Callable[[int], str], marks: set[str], found: _Found) -> None:
    """Paragraphs and lists, sentence by sentence."""
    title, _, rest = block.partition("\n")
    if kind := _LISTS.get(title.strip().lower()):
        for at, item in enumerate(rest.split("\n"), 1):
            found.add(kind, place(at), one_line(item.lstrip("- "), _QUOTE))
        return
    for start, sentence in _sentences(block):
        where = place(block.count("\n", 0, start))
        mark = _MARK.match(sentence)
        if _HIDDEN.match(sentence):
            found.add("hidden", where, one_line(sentence, _QUOTE))
        elif _NOTES.match(sentence):
            found.add("speaker note", where, one_line(block[start:], 2 * _QUOTE))
            return
        elif mark and mark[1] in marks:
            found.add("footnote", where, one_line(sentence, _QUOTE))
        elif hit := _kind(sentence):
            found.add(hit[0], where, _quote(sentence, hit[1]))


def _sentences(block: str) -> Iterator[tuple[int, str]]:
    """The sentences and list items of a block with the place where each begins."""
    cuts = {0, len(block)}
    cuts |= {match.start() + 1 for match in _LINES.finditer(block)}
    cuts |= {match.end() for match in _SENTENCES.finditer(block)}
    for start, end in pairwise(sorted(cuts)):
        if sentence := block[start:end].strip():
            yield start, sentence


def _kind(text: str) -> tuple[str, int, str] | None:
    """The kind of sign that a text is, where its words begin, and the words; None: none."""
    if _label().match(text):
        return "remark", 0, text
    hits = [(match.lastgroup or "", match) for match in _words().finditer(text)]
    hits += [(kind, match) for kind, form in _FORMS.items() if (match := form.search(text))]
    if not hits:
        return None
    kind, match = max(hits, key=lambda hit: (RANKS[hit[0].replace("_", " ")], -hit[1].start()))
    return kind.replace("_", " "), match.start(), match[0].casefold()


def _quote(text: str, at: int) -> str:
    """About _QUOTE characters of `text` around the place `at`."""
    start = max(0, at - _BEFORE) if len(text) > _QUOTE else 0
    while 0 < start < at and text[start - 1].isalnum():
        start += 1
    return one_line(("…" if start else "") + text[start:], _QUOTE)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(row.strip().strip("|"))]


def _scan_table(header: str, lines: list[str], first_row: int, place: str, found: _Found) -> None:
    """A table, cell by cell; of like cells of a column the first counts."""
    titles = _cells(header.partition("\n")[0])
    rows = [_cells(line) for line in lines]
    rows = [row + [""] * (len(titles) - len(row)) for row in rows]
    columns = [[row[i] for row in rows] for i in range(len(titles))]
    numeric = [_is_numeric(column) for column in columns]
    sparse = [len(rows) >= 4 and 0 < sum(map(bool, column)) <= len(rows) / 3 for column in columns]

    def at(row: int) -> str:
        return ", ".join(filter(None, (place, f"row {first_row + row}")))

    for title in titles:
        if hit := _kind(title):
            found.add(hit[0], ", ".join(filter(None, (place, "header"))), _quote(title, hit[1]))
    for number, row in enumerate(rows):
        label = next(filter(None, row), "")
        used = sum(map(bool, row))
        for i, cell in enumerate(row[: len(titles)]):
            if not cell:
                continue
            hit = _kind(cell)
            quote = _quote(cell, hit[1] if hit else 0)
            shown = quote if cell is label else f"{one_line(label, 40)} | {one_line(titles[i], 30)}: {quote}"
            like = f"{place} {i} {hit[2]}" if hit and len(cell) <= _BEFORE else ""
            if _total().match(cell) and cell is label and used > 1:
                found.add(
                    "total", at(number), one_line(" | ".join(filter(None, row)), _QUOTE), place or "table"
                )
            elif hit:
                found.add(hit[0], at(number), shown, like)
            elif used == 1 and len(titles) > 2 and len(cell.split()) > 3:
                found.add("remark", at(number), shown)
            elif sparse[i] and cell is not label and re.search(r"[^\W\d_]{3}", cell):
                found.add("remark", at(number), shown, f"{place} {i} {cell.casefold()}")
            elif numeric[i] and not NUMBER.match(_FORMULA.sub("", cell)) and re.search(r"[^\W\d_]", cell):
                found.add("odd value", at(number), shown, f"{place} {i} {cell.casefold()}")
    for i, column in enumerate(columns):
        _scan_currencies(column, titles[i], at, found)


def _is_numeric(column: Iterable[str]) -> bool:
    cells = [_FORMULA.sub("", cell) for cell in column if cell]
    return len(cells) >= 5 and sum(bool(NUMBER.match(cell)) for cell in cells) >= 0.7 * len(cells)


def _scan_currencies(column: list[str], title: str, at: Callable[[int], str], found: _Found) -> None:
    """Two currencies in one column: the first cell in the one that is rarer."""
    seen: dict[int, str] = {}
    for number, cell in enumerate(column):
        if NUMBER.match(cell) or _CURRENCY.fullmatch(cell):
            names = {_SAME_CURRENCY.get(sign, sign) for sign in _CURRENCY.findall(cell)}
            if len(names) == 1:
                seen[number] = names.pop()
    counts = Counter(seen.values())
    if len(counts) > 1:
        rarest = min(counts, key=lambda name: (counts[name], name))
        first = next(number for number, name in seen.items() if name == rarest)
        others = ", ".join(f"{name} in {count} cells" for name, count in sorted(counts.items()))
        found.add("unit", at(first), one_line(f"{title}: {column[first]} ({others})", _QUOTE))
