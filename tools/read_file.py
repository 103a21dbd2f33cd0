"""The tool `read_file`: a given file as Markdown, by part, or an answer from it (PreFlect A.2)."""

from __future__ import annotations

import asyncio
import re

from forethought.text import numbered
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.documents.document import Document, Part, split
from forethought.tools.documents.reader import load_document
from forethought.tools.given_files import answer_about, find_file

_MISSED = {
    "hidden sheets": r"^## Sheet .*, hidden\)$",
    "hidden rows": r"^Hidden rows[^\n]*: ",
    "hidden columns": r"^Hidden columns: ",
    "hidden slides": r"^## Slide .*, hidden$",
    "tracked changes": r"\[(?:deleted|inserted|moved away|moved here) by ",
    "struck text": r"\[struck: ",
    "hidden text": r"\[hidden text: ",
    "comments": r"^Comments( on cells)?:$|\[comment (?:on|by) ",
    "footnotes": r"^Footnotes:$",
    "endnotes": r"^Endnotes:$",
    "speaker notes": r"^Speaker notes: ",
    "form fields": r"^Form fields:$",
    "files": r"^Files in it:$",
    "pages that are pictures": r" inspect_image\(path, page=\d+\) shows it\.\)$",
}
"""What is easily missed in a document, and what the readers write there."""


async def read_file(
    env: ToolEnv, path: str, part: int | None = None, question: str | None = None
) -> Observation:
    """Read one of the given files as Markdown text, or ask a question about it.

    Reads xlsx, xls, ods, docx, odt, pptx, pdf, epub, rtf, eml, msg, mbox, html, csv, tsv, sqlite, parquet,
    ipynb and plain text (txt, md, json, xml, log, yaml, py, ...); not scans, pictures or sound. A file
    attached to a message or in an archive is a given file of its own: mail.eml/q3.xlsx. Shows tables as
    tables, and what is easily missed: formulas, hidden sheets, rows and columns, comments, tracked changes,
    footnotes, speaker notes. A long file comes in parts; the first line says which part this is and what is
    not shown.

    Args:
        path: Name of a given file, such as prices.xlsx.
        part: Number of the part to read, from 1, or null for the first.
        question: Question to answer from the file instead of showing it, or null to see the text. For a
            long file, part is where the reading begins.
    """
    store, content_hash, name = await asyncio.to_thread(find_file, path, env)
    document = await load_document(store, content_hash, name, env.settings)
    parts = await asyncio.to_thread(split, document, env.sizes.part)
    number = 1 if part is None else part
    if not 1 <= number <= len(parts):
        count = "has only one part" if len(parts) == 1 else f"has parts 1 to {len(parts)}"
        raise ToolError(
            f"{name} {count}; there is no part {number}", cause="arguments", hint="Ask for an existing part."
        )
    if question is not None and question.strip():
        return await _answer(env, name, document, parts, number, question.strip())
    shown = parts[number - 1]
    first = _first_line(name, document, parts, [number], "shown")
    text = "\n\n".join(filter(None, [first, document.note, shown.text]))
    return Observation(text, origin=f"file:{name}", partial=len(parts) > 1)


async def _answer(
    env: ToolEnv, name: str, document: Document, parts: list[Part], start: int, question: str
) -> Observation:
    assert env.inspect is not None, "a run has a model"
    end, size = start, len(parts[start - 1].text)
    while end < len(parts) and size + len(parts[end].text) <= env.sizes.inspected:
        size += len(parts[end].text)
        end += 1
    numbers = list(range(start, end + 1))
    text = "\n\n".join(filter(None, [document.note, *(part.text for part in parts[start - 1 : end])]))
    answer = await env.inspect(question, text, name)
    heading = _first_line(name, document, parts, numbers, "considered")
    return answer_about(name, heading, answer, partial=len(numbers) < len(parts))


def _first_line(name: str, document: Document, parts: list[Part], numbers: list[int], verb: str) -> str:
    """Which parts the observation rests on, which it leaves out, and how to get at them."""
    total = len(parts)
    shown = dict.fromkeys(place for number in numbers for place in parts[number - 1].places)
    places = document.where(list(shown))
    missing = [number for number in range(1, total + 1) if number not in numbers]
    which = f"{numbered('part', numbers)} of {total}" if missing else "complete"
    line = f"{name}, {which}{f' ({places})' if places else ''}."
    if missing:
        next_part = numbers[-1] + 1 if numbers[-1] < total else missing[0]
        line += f" Not {verb}: {numbered('part', missing)}; ask for part={next_part}."
    also = _easily_missed(parts)
    return f"{line} Also in it: {also}." if also else line


def _easily_missed(parts: list[Part]) -> str:
    """What of `_MISSED` there is, and in which parts."""
    found = []
    for what, pattern in _MISSED.items():
        begins = re.compile(pattern, re.MULTILINE)
        if numbers := [number for number, part in enumerate(parts, 1) if begins.search(part.text)]:
            where = f" ({numbered('part', numbers)})" if len(parts) > 1 else ""
            found.append(what + where)
    return ", ".join(found)


READ_FILE = make_tool(read_file, timeout_s=90, media=("",))
