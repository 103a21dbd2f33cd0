"""Signs: lines of files and of the task that by their form may decide it, and that a hasty reader passes by.

They are found by rules, without a model: by marks that no language owns (a hidden sheet, a comment, a speaker
note, a footnote, a line unlike all others; see also `nodes.support.table_signs`) and by words
(`knowledge/sign_words.yaml`). What they mean, a model judges.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from forethought.nodes.support.sign_kinds import COMMON, RANKS, Found, condition, kind_of, quote
from forethought.nodes.support.table_signs import table_signs
from forethought.state.look import Sign
from forethought.text import one_line
from forethought.tools.documents.document import Document, split_header

MOST_SHOWN = 12
MOST_OF_A_KIND = 6
"""Maximum signs of one file; the last one counts the rest."""
_MOST_COMMON = 3
"""Maximum signs of a common kind in a file; more of them mean nothing."""
_MOST_OF_A_TASK = 4
_LONGEST = 320
"""Characters of a sign's text."""
SCANNED_CHARACTERS = 300_000
"""Of one file."""
_LISTS = {
    "comments on cells:": "comment", "comments:": "comment",
    "footnotes:": "footnote", "endnotes:": "footnote",
}  # fmt: skip
"""Headings of the readers' own additions to a document's text."""
_HIDDEN = re.compile(r"Hidden (?:rows|columns): ")
_NOTES = "Speaker notes: "
_MARK = re.compile(
    r"(?:[-|] )?(\*{1,3}|[†‡§¹²³⁴-⁹]|\^\w{1,2}\^?|\([*?!+#]{1,3}\)|\[\^?\w{1,2}\]|\d\))(?=.*\w)"
)
_MOST_MARKS = 30
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"“(\[]?[A-ZÄÖÜ\d])")
_WRAPPED = 50
"""Minimum length of a line that continues in the next, if that begins with a small letter."""
_CLAUSE_END = re.compile(r"(?<=[.!?;,])\s+|\n+")
_VERSION_MARK = re.compile(
    r"[\s.(-]*(?:\bv(?:ersion)?[\s.-]?\d+(?:\.\d+)*|\brev(?:ision|ised)?[\s.-]?\d*|\(\d+\)|\b(?:final|draft|new|old|"
    r"copy|corrected|amended|updated|addendum|erratum|neu|alt|entwurf|kopie|korrigiert)\b)\)?"
)


def document_signs(name: str, document: Document) -> list[Sign]:
    """The signs of the file `name`, in its order: at most MOST_OF_A_KIND of each kind."""
    found: list[Found] = []
    left = SCANNED_CHARACTERS
    for section in document.sections:
        place = f"{name}, {document.unit} {section.place}" if document.unit else name
        if section.heading.rstrip(")").endswith(", hidden"):
            found.append(Found("hidden", section.heading.lstrip("# "), place))
        found += _section_signs(section.text[:left], place, document.unit)
        left = max(0, left - len(section.text))
    return _few(found, f"file:{name}")


def file_name_signs(names: Sequence[str]) -> list[Sign]:
    """Files whose names differ by a version's mark only."""
    by_stem: dict[str, list[str]] = {}
    for name in names:
        stem = _VERSION_MARK.sub("", name.rpartition(".")[0].lower().replace("_", " ")).strip(" .-")
        by_stem.setdefault(stem, []).append(name)
    return [
        _sign(
            Found("version", " / ".join(group), "names of the files"),
            ", ".join(f"file:{name}" for name in group),
        )
        for stem, group in by_stem.items()
        if stem and len(group) > 1
    ]


def task_signs(task: str) -> list[Sign]:
    """The conditions of the task: clauses with a date, a limit or a word such as 'only'. A task of one clause
    has none: nobody passes it by."""
    clauses = [clause.rstrip(" ,.;?!") for clause in _CLAUSE_END.split(task.strip())]
    if len(clauses) < 2:
        return []
    hits = ((clause, condition().search(clause)) for clause in clauses)
    found = (Found("condition", quote(clause, hit.start()), "task") for clause, hit in hits if hit)
    return [_sign(item, "user") for item in found][:_MOST_OF_A_TASK]


def chosen(signs: Sequence[Sign], task: str, limit: int = MOST_SHOWN) -> list[Sign]:
    """The `limit` signs that rank highest and share most words with the task, in their order."""
    asked = _stems(task)
    weights = [RANKS[item["kind"]] + 2 * min(len(_stems(item["text"]) & asked), 2) for item in signs]
    best = sorted(range(len(signs)), key=lambda i: (-weights[i], i))[:limit]
    return [signs[i] for i in sorted(best)]


def _stems(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{4,}", text.lower())}


def _sign(found: Found, origin: str) -> Sign:
    text = one_line(found.text, _LONGEST)
    return Sign(kind=found.kind, place=found.place, text=text, more=0, origin=origin)


def _few(found: Iterable[Found], origin: str) -> list[Sign]:
    """Those that are alike as one, and of each kind the first; the others are counted."""
    kept: dict[tuple[str, str], Sign] = {}
    by_kind: dict[str, list[Sign]] = {}
    for item in found:
        key = (item.kind, item.like or item.text.casefold())
        of_kind = by_kind.setdefault(item.kind, [])
        if key in kept:
            kept[key]["more"] += 1
        elif len(of_kind) == MOST_OF_A_KIND:
            of_kind[-1]["more"] += 1
        else:
            kept[key] = _sign(item, origin)
            of_kind.append(kept[key])
    silent = {
        kind for kind in COMMON if sum(1 + item["more"] for item in by_kind.get(kind, ())) > _MOST_COMMON
    }
    return [item for item in kept.values() if item["kind"] not in silent]


def _section_signs(text: str, place: str, unit: str) -> Iterator[Found]:
    starts = dict.fromkeys(mark[1] for line in text.split("\n") if (mark := _MARK.match(line)))
    marks = {
        mark
        for mark in list(starts)[:_MOST_MARKS]
        if re.search(rf"[\w.,)%€$\"”] ?{re.escape(mark)}(?![\w*])", text)
    }
    rare = unit == "sheet" or _sentences_are_rare(text)
    line, lead = 1, ""
    for block in text.split("\n\n"):
        if table := split_header(block):
            yield from table_signs(*table, lead, place)
        else:
            for at, found in _text_signs(block, marks, rare):
                yield found._replace(place=f"{place}, line {line + at}" if not unit else place)
        lead = block.strip()
        line += block.count("\n") + 2


def _text_signs(block: str, marks: set[str], rare: bool) -> Iterator[tuple[int, Found]]:
    """The signs of paragraphs and lists, each with the number of its line in the block, from 0."""
    title, *items = block.split("\n")
    if kind := _LISTS.get(title.strip().lower()):
        yield from ((at, Found(kind, item.lstrip("- "))) for at, item in enumerate(items, 1))
        return
    if block.startswith(_NOTES):
        yield 0, Found("speaker note", block.removeprefix(_NOTES))
        return
    odd = _odd_lines([title, *items])
    for at, sentence in _sentences(block):
        mark = _MARK.match(sentence)
        if _HIDDEN.match(sentence):
            yield at, Found("hidden", sentence)
        elif mark and mark[1] in marks:
            yield at, Found("footnote", quote(sentence))
        elif at in odd:
            yield at, Found("odd line", quote(sentence))
        elif hit := kind_of(sentence):
            yield at, Found(hit[0], quote(sentence, hit[1]))
        elif rare and _is_sentence(sentence):
            yield at, Found("remark", quote(sentence))


def _sentences_are_rare(text: str) -> bool:
    """Whether a text is lines of data, as a roster is, with a few sentences at most."""
    units = [unit for block in text.split("\n\n") if not split_header(block) for _, unit in _sentences(block)]
    number = sum(map(_is_sentence, units))
    return 0 < number <= _MOST_COMMON and len(units) >= 3 * number and len(units) - number >= 3


def _is_sentence(unit: str) -> bool:
    return unit.endswith((".", "!", "?")) and len(unit.split()) > 3


def _odd_lines(lines: Sequence[str]) -> set[int]:
    """The few lines that differ in more than figures where all others do not, as in a log."""
    forms = [re.sub(r"\d+", "0", line) for line in lines]
    usual, count = Counter(forms).most_common(1)[0]
    if len(lines) < 10 or count < 0.8 * len(lines):
        return set()
    return {at for at, form in enumerate(forms) if form != usual and form.strip()}


def _sentences(block: str) -> Iterator[tuple[int, str]]:
    """The sentences and list items of a block, each with its line's number; wrapped lines are joined."""
    joined: list[tuple[int, list[str]]] = []
    before = ""
    for at, line in enumerate(block.split("\n")):
        if joined and len(before) >= _WRAPPED and line.lstrip()[:1].islower():
            joined[-1][1].append(line)
        else:
            joined.append((at, [line]))
        before = line
    for at, pieces in joined:
        for sentence in _SENTENCE_END.split(" ".join(pieces)):
            if sentence.strip():
                yield at, sentence.strip()
