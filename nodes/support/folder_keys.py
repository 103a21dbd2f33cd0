"""The files of a folder that hold what the task names: a name, a number, something in quotes, a month.

A passage that fits the words of a task is rarely alone: a contract has amendments, and a letter an answer.
Their texts share a name or a number with it. If few files hold one, the look shows all of them, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from forethought.tools.folders.given import Folders
from forethought.tools.folders.records import Hit
from forethought.tools.folders.words import STOP, dates_in, months_in

MOST = 10
"""Maximum files of a key. A key that more files hold tells too little."""
SMALL = 2_000
"""Characters of a file that is shown whole, not by a passage."""
_READ = 400
"""Maximum passages that are looked through for a key."""
_KEYS, _NUMBERS, _TITLE = 4, 3, 120
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,60})[\"”“»]")
_NAME = re.compile(
    r"(?<![\w'’])[^\W\d_a-zß-öø-ÿ][\w'’-]*(?:[ ](?:&[ ])?(?:[^\W\d_a-zß-öø-ÿ][\w'’-]*|\d+(?![\w.,])))*"
)
_NUMBER = re.compile(r"(?<![\w.,/-])(?=\w*\d{3})[\w-]{3,24}(?![\w/]|[.,]\d)")
_NUMBERED = re.compile(r"(?:\b(?:no|nr|number)\b\.?|[#№])[ ]?(\w{3,24})", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d(?:\D.*)?")


@dataclass(frozen=True)
class Key:
    """Words that few files hold together, and a passage of each of these files."""

    label: str
    hits: Sequence[Hit]


def keys_of(folders: Folders, task: str, best: Sequence[Hit], sizes: Mapping[str, int]) -> list[Key]:
    """The keys of a task, then the numbers in the passages that they or its words lead to. Blocking.

    A key without hits is of words that no file holds.

    Args:
        folders: The run's folders.
        task: The task.
        best: The passages that fit the task's words, best first.
        sizes: Characters of each file.
    """
    names = _names(task)[:_KEYS]
    known = [key for name in names if (key := _key(folders, [name], sizes))]
    keys = [key for key in known if key.hits]
    # A number or a name of several words that no file holds is said: the task may misspell it.
    absent = [key for key in known if not key.hits and re.search(r"[\d ]", key.label)]
    if not keys and names:
        months = months_in(task)
        both = [_key(folders, names, sizes), _key(folders, names, sizes, months)]
        keys = [key for key in both if key and key.hits][:1]
    order = {hit.name: at for at, hit in reversed([*enumerate(best)])}
    seeds = sorted((hit for key in keys for hit in key.hits), key=lambda hit: order.get(hit.name, len(order)))
    prose = [hit for hit in seeds or ([] if absent else best[:1]) if "|" not in hit.text]
    numbers = dict.fromkeys(number for hit in prose[:2] for number in _numbers(_title(hit)))
    told = [_key(folders, [number], sizes) for number in [*numbers][:_NUMBERS] if number not in names]
    return [*keys, *absent, *(key for key in told if key and len(key.hits) > 1)]


def _key(
    folders: Folders, words: Sequence[str], sizes: Mapping[str, int], months: Collection[str] = ()
) -> Key | None:
    """The key of the files that hold all words, and one of any months given; None if too many do."""
    forms = [re.compile(r"(?<!\w)" + r"\W+".join(re.findall(r"\w+", one)) + r"(?!\w)", re.I) for one in words]
    found = next((hits for one in words if len(hits := folders.search(one, _READ)) < _READ), None)
    if found is None:
        return None
    kept: dict[str, Hit] = {}
    for hit in found:
        whole = sizes.get(hit.name, SMALL + 1) <= SMALL
        text = f"{hit.name}\n{folders.text(hit.name) if whole else f'{hit.heading} {hit.text}'}"
        # Of a large table, one row must hold the words that the file's name does not hold.
        parts = hit.text.split("\n") if hit.text.startswith("|") and not whole else [text]
        if any(all(form.search(f"{hit.name}\n{part}") for form in forms) for part in parts) and (
            not months or not months_in(text).isdisjoint(months)
        ):
            kept.setdefault(hit.name, hit)
    label = " and ".join(f"“{one}”" for one in words) + " and the task's month" * bool(months)
    return Key(label, list(kept.values())) if len(kept) <= MOST else None


def _title(hit: Hit) -> str:
    return f"{hit.name} {hit.heading} {f'{hit.text} '[:_TITLE].rpartition(' ')[0]}"


def _names(task: str) -> list[str]:
    """Names, quoted words and numbers of the task."""
    found = _QUOTED.findall(task) + _numbers(task)
    for match in _NAME.finditer(_QUOTED.sub(" ", task)):
        words = match[0].split()
        if words[0].casefold() in STOP:
            words = words[1:]
        is_month = any(dates_in(f"{word} 2000") for word in words[:1])
        begins = not task[: match.start()].strip() or task[: match.start()].rstrip()[-1:] in ".?!:\n"
        if words and not is_month and not (begins and len(words) == 1):
            found.append(" ".join(words))
    return list(dict.fromkeys(found))


def _numbers(text: str) -> list[str]:
    """Numbers that name a thing: no years, dates or amounts, but `no. 1911`."""
    numbered = _NUMBERED.findall(text)
    return [found for found in _NUMBER.findall(text) if found in numbered or not _YEAR.fullmatch(found)]
