"""Telling whether two texts ask the same: what is learned from must not be what is evaluated on (PreFlect
3.2.1).

Texts are compared by their words alone: letter case, accents, punctuation and spaces do not count. A task
that holds a whole question among other words (instructions, a format for the answer) is that question too.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forethought.json_files import FileError, parse_values, read_text

CONTAINED_WORDS = 6
"""Minimum words of a question that is searched for in longer texts."""
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_FIELDS = ("task", "question", "Question", "problem", "instruction", "query", "prompt", "input")


def normalised(text: str) -> str:
    """The words of `text`, one space between two: what is left of it when two texts are compared."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(re.findall(r"\w+", re.sub(r"(?<=\w)['’](?=\w)", "", plain)))


def framed(text: str) -> str:
    """The words of `text` with a space around each, and once more without a possessive s, to look for words
    in: `Paris's` holds Paris."""
    return f" {normalised(text)} | {normalised(_POSSESSIVE.sub('', text))} "


def fingerprint(text: str) -> str:
    """SHA-256 of the normalised text: names a question where its words are not to be written down."""
    return hashlib.sha256(normalised(text).encode("utf-8")).hexdigest()


class Questions:
    """Texts of tasks that others have to keep clear of."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = {plain for text in texts if (plain := normalised(text))}
        self._long = [f" {plain} " for plain in self._known if plain.count(" ") + 1 >= CONTAINED_WORDS]

    def __len__(self) -> int:
        return len(self._known)

    def hold(self, task: str) -> bool:
        """Whether `task` is one of them, or one of them in other words around it, or a part of one."""
        plain = normalised(task)
        if plain in self._known:
            return True
        framed = f" {plain} "
        if any(known in framed for known in self._long):
            return True
        return plain.count(" ") + 1 >= CONTAINED_WORDS and any(framed in known for known in self._long)


def read_questions(path: Path) -> list[str]:
    """The tasks named in a file: JSON or JSON Lines with records that have a task or question, or a text
    with one on each line.

    Reads the disk. Raises FileError, in one line that says what to do.
    """
    content = read_text(path)
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        texts = list(_of_json(parse_values(content, path)))
    else:
        texts = [line.strip() for line in content.splitlines() if line.strip()]
    if not texts:
        raise FileError(
            f"{path}: no questions in it; give records with one of {', '.join(_FIELDS)}, or one on a line"
        )
    return texts


def _of_json(value: Any) -> Iterator[str]:
    """The tasks in JSON: a string in a list, or the first field of a record that holds one."""
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _of_json(item)
    elif isinstance(value, dict):
        named = next((value[key] for key in _FIELDS if isinstance(value.get(key), str)), None)
        if named is not None:
            yield from _of_json(named)
        else:
            yield from _of_json([item for item in value.values() if isinstance(item, dict | list)])


def word_sequences(text: str, size: int) -> list[str]:
    """All `size` words in a row of the normalised text."""
    words = normalised(text).split()
    return [" ".join(words[at : at + size]) for at in range(len(words) - size + 1)]
