"""What a prompt shows of texts that do not all fit it: the newest whole, of the others what bears on a query.

Nothing is cut while all texts fit. Beyond that, cuts come in batches at fixed boundaries, so that a prompt
that grows repeats what it said before, and a provider's cache serves it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from forethought.experience.ranking import rank
from forethought.nodes.support.passage_rank import rank_passages, spans
from forethought.sizes import WHOLE, extent
from forethought.text import numbered
from forethought.tools.documents.document import stretches

_NOTE = 160
"""Bytes that a note on what is missing takes, roughly."""
_STRETCH, _LEAST_STRETCH = 600, 100
"""Characters of a stretch of a long line, of which a text is shown one at least."""


@dataclass(frozen=True)
class Text:
    """A text, and how its reader gets what a prompt leaves out of it."""

    text: str
    way: str = ""
    """A sentence, such as 'The whole text: results[...] in python.'; '' where the reader has no tools."""
    before: str = ""
    """What stands before the text where it is whole."""
    briefly: str = ""
    """The same where the text is cut."""
    first: str = ""
    """Lines that hold this are shown before others, as far as there is room."""
    numbers: tuple[int, ...] = ()
    """Of a selection from a longer text: the number that each line has there."""

    @property
    def whole(self) -> str:
        """Everything."""
        return self.before + self.text


def shown(texts: Sequence[Text], share: int, query: str) -> list[str]:
    """The texts, oldest first, within `share` bytes: all whole if they fit.

    Else the newest ones are whole, in two blocks of a third of the share; of those before, what bears on
    `query` fits the last third. The newest is whole in any case.
    """
    ends = list(accumulate(extent(text.whole) for text in texts))
    if not texts or ends[-1] <= share:
        return [text.whole for text in texts]
    block = max(int(share * WHOLE / 2), 1)
    first = ((ends[-1] - 1) // block - 1) * block
    begins = [0, *ends[:-1]]
    older = sum(begin < first for begin in begins[:-1])
    cuts = excerpts(tuple(texts[:older]), query, share - 2 * block)
    return [*cuts, *(text.whole for text in texts[older:])]


@lru_cache(maxsize=16)
def excerpts(texts: tuple[Text, ...], query: str, limit: int) -> tuple[str, ...]:
    """The texts in `limit` bytes together. Short ones stay whole; of the others the passages that bear on
    `query`, wherever they are, with their headings; then, as far as there is room, beginning and end.
    """
    sizes = [extent(text.whole) for text in texts]
    fair = _fair_size(sizes, limit)
    stretch = max(min(_STRETCH, fair // 3), _LEAST_STRETCH)
    long = {at: _Lines(text, stretch) for at, text in enumerate(texts) if sizes[at] > fair or text.numbers}
    room = limit - sum(size for at, size in enumerate(sizes) if at not in long) - _NOTE * len(long)
    room -= sum(extent(lines.source.briefly) for lines in long.values())
    places = [(lines, at) for lines in long.values() for at in range(len(lines.passages))]
    ranked = [places[i] for i, _ in rank_passages(query, [lines.passage(at) for lines, at in places])]
    # First the best of each text, in half of the room, so that no text crowds the others out.
    for lines in long.values():
        own = room // 2 // len(long)
        first = lines.source.first
        for at in (at for at, line in enumerate(lines.all) if first and first in line):
            own -= lines.take(lines.around(at), own)
        for at in (at for among, at in ranked if among is lines):
            own -= lines.take_passage(at, query, own)
    room -= sum(lines.size for lines in long.values())
    for lines, at in ranked:
        room -= lines.take_passage(at, query, room)
    for number, lines in enumerate(long.values()):
        room -= lines.fill(room // (len(long) - number))
    return tuple(long[at].shown() if at in long else text.whole for at, text in enumerate(texts))


@lru_cache(maxsize=2048)
def gist(text: str, query: str, limit: int) -> str:
    """`text` in about `limit` bytes: its first line, lines that bear on `query`, then others from the top.

    No note tells what is missing, and no line is repeated.
    """
    if extent(text) <= limit:
        return text
    stretch = max(min(_STRETCH, limit // 3), _LEAST_STRETCH)
    pieces = (piece for line in text.split("\n") for piece in stretches(line, stretch) if piece.strip())
    lines, chosen = list(dict.fromkeys(pieces)), set[int]()
    for at in [0, *(at for at, _ in rank(query, lines, least=1)), *range(len(lines))]:
        if at not in chosen and (not chosen or extent(lines[at]) < limit):
            chosen.add(at)
            limit -= extent(lines[at]) + 1
    return "\n".join(lines[at] for at in sorted(chosen))


def _fair_size(sizes: Sequence[int], limit: int) -> int:
    """The size up to which texts are whole, so that they and an equal share for each of the others fit."""
    left, fair = limit, 0
    for number, size in enumerate(sorted(sizes)):
        fair = left // (len(sizes) - number)
        if size > fair:
            break
        left -= size
    return max(fair, 0)


class _Lines:
    """The lines of a text, long ones of prose in stretches, and those that are shown: the first one, ever."""

    def __init__(self, source: Text, stretch: int) -> None:
        self.source, self.all, self._numbers = source, list[str](), list[int]()
        self._begins: list[bool] = []
        """Whether each piece begins a line."""
        for number, line in enumerate(source.text.split("\n"), 1):
            pieces = [line] if line.startswith("|") else list(stretches(line, stretch))
            if len(pieces) > 1 and len(pieces[-1]) < stretch // 4:  # a scrap would outrank whole sentences
                pieces[-2:] = [pieces[-2] + pieces[-1]]
            self.all += pieces
            self._begins += [True] + [False] * (len(pieces) - 1)
            self._numbers += [source.numbers[number - 1] if source.numbers else number] * len(pieces)
        self._chosen: set[int] = {0}
        self.passages = self._passages()

    def _passages(self) -> list[tuple[str, list[int]]]:
        """The headings of each passage, and its lines."""
        cuts = spans(self.source.text)
        starts = [start for start, _, _ in cuts]
        found = [(heading, list[int]()) for _, _, heading in cuts]
        at = 0
        for index, piece in enumerate(self.all):
            if found:
                found[max(bisect_right(starts, at) - 1, 0)][1].append(index)
            last = index + 1 == len(self.all) or self._begins[index + 1]
            at += len(piece) + last
        return [passage for passage in found if passage[1]]

    def passage(self, at: int) -> str:
        """A passage with its headings."""
        heading, lines = self.passages[at]
        return "\n".join([heading, *(self.all[line] for line in lines)])

    def take_passage(self, at: int, query: str, room: float) -> int:
        """Show a passage, or those of its lines that fit the query and the room. The bytes it took."""
        lines = [line for line in self.passages[at][1] if self.all[line].strip()]
        rows = all(self.all[line].startswith("|") for line in lines)
        if lines and not rows and (took := self.take([*self.around(lines[0])[:1], *lines], room)):
            return took
        used = 0
        for line in [lines[index] for index, _ in rank_passages(query, [self.all[line] for line in lines])]:
            used += self.take(self.around(line), room - used) or self.take([line], room - used)
        return used

    @property
    def size(self) -> int:
        """Bytes of the lines that are shown."""
        return sum(extent(self.all[at]) + 1 for at in self._chosen)

    def around(self, at: int) -> list[int]:
        """The line `at` with what makes it understood: the heading above, and a table's header for a row, or
        else the lines beside it."""
        heading = next((i for i in range(at, -1, -1) if self.all[i].startswith("#")), at)
        if not self.all[at].startswith("|"):
            return [heading, at, *(i for i in (at - 1, at + 1) if 0 <= i < len(self.all) and self.all[i])]
        top = next((i + 1 for i in range(at, -1, -1) if not self.all[i].startswith("|")), 0)
        return [heading, *(i for i in (top, top + 1) if i < at), at]

    def take(self, places: Sequence[int], room: float) -> int:
        """Show these lines if all of them fit `room`. The bytes it took."""
        new = set(places) - self._chosen
        size = sum(extent(self.all[at]) + 1 for at in new)
        if size > room:
            return 0
        self._chosen |= new
        return size

    def fill(self, room: int) -> int:
        """Show lines from the beginning and, in a quarter of `room`, from the end. The bytes it took."""
        used = 0
        for order, share in ((range(len(self.all)), 0.75), (range(len(self.all) - 1, -1, -1), 1.0)):
            for at in (at for at in order if at not in self._chosen):
                if not (took := self.take([at], room * share - used)):
                    break
                used += took
        return used

    def shown(self) -> str:
        """The chosen lines in their order, and a note on the others."""
        text = self.source.briefly
        for at, (line, number) in enumerate(zip(self.all, self._numbers, strict=True)):
            if at in self._chosen:
                jumps = at > 0 and number > self._numbers[at - 1] + 1
                text += "\n[...]" if jumps and at - 1 in self._chosen else ""
                text += line if at == 0 or (not self._begins[at] and at - 1 in self._chosen) else f"\n{line}"
            elif at - 1 in self._chosen:
                text += "\n[...]"
        if self.source.numbers:
            shown = len({self._numbers[at] for at in self._chosen})
            return f"{text}\n[{shown:,} of {self._numbers[-1]:,} lines are shown. {self.source.way}]"
        missing = sorted({n for at, n in enumerate(self._numbers) if at not in self._chosen})
        if not missing:
            return text
        which = f"{numbered('Line', missing)} of {self._numbers[-1]}"
        verb = "are" if len(missing) > 1 else "is"
        whole = "" if len(self.all) == self._numbers[-1] else " whole"
        return f"{text}\n{' '.join(filter(None, (f'[{which} {verb} not shown{whole}.', self.source.way)))}]"
