"""Tables of a PDF's page whose cells have ruled lines around them; what is between four lines is one cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from forethought.tools.documents.pdf_layout import Row, Word, line_of, rows_of
from forethought.tools.documents.tables import NUMBER, SAME_CELL, markdown_table

_NEAR = 3.0
"""Points within which lines meet."""
_MOST_RULES = 800
_LEAST_FILLED = 0.35
"""The share of cells with text below which the lines are a chart's."""
_LONGEST_REPEATED = 60
"""Characters of a cell over several columns or rows that is written in each."""
_MOST_WORDS = 80
"""Words of a cell over several columns or rows; more are not one cell but rows without lines."""


class Rule(NamedTuple):
    """A thin line, along x or along y, or another box."""

    x0: float
    x1: float
    top: float
    bottom: float

    @property
    def level(self) -> bool:
        """Whether it goes from left to right."""
        return self.x1 - self.x0 >= self.bottom - self.top

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is in it."""
        return self.x0 <= x <= self.x1 and self.top <= y <= self.bottom


def with_tables(words: list[Word], rules: Sequence[Rule]) -> list[Word]:
    """The words, but each ruled table as one `block`."""
    for group in _groups(rules) if len(rules) <= _MOST_RULES else ():
        across = _merged([*(rule.x0 for rule in group if not rule.level), *_ends(group, 0)])
        down = _merged([*(rule.top for rule in group if rule.level), *_ends(group, 2)])
        inside = [word for word in words if not word.block and _holds(across, down, word)]
        if len(across) < 3 or len(down) < 3 or not inside:
            continue
        table, used = _table(inside, group, across, _with_lines(across, down, inside))
        if table:
            block = Word(markdown_table(table), across[0], across[-1], down[0], down[-1], block=True)
            words = [*(word for word in words if id(word) not in used), block]
    return words


def _groups(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Rules that touch each other."""
    left = list(rules)
    while left:
        group = [left.pop()]
        for rule in group:  # it grows
            touching = [other for other in left if _touch(rule, other)]
            left = [other for other in left if other not in touching] if touching else left
            group += touching
        yield group


def _touch(one: Rule, other: Rule) -> bool:
    across = one.x0 <= other.x1 + _NEAR and other.x0 <= one.x1 + _NEAR
    return across and one.top <= other.bottom + _NEAR and other.top <= one.bottom + _NEAR


def _ends(group: list[Rule], axis: int) -> tuple[float, float]:
    return min(rule[axis] for rule in group), max(rule[axis + 1] for rule in group)


def _merged(places: list[float]) -> list[float]:
    """The places in order, of near ones the first."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > _NEAR:
            kept.append(place)
    return kept


def _holds(across: list[float], down: list[float], word: Word) -> bool:
    x, y = (word.x0 + word.x1) / 2, (word.top + word.bottom) / 2
    return across[0] <= x <= across[-1] and down[0] <= y <= down[-1]


def _with_lines(across: list[float], down: list[float], words: list[Word]) -> list[float]:
    """The lines between rows, and those of the text where several rows are between two of them.

    Then most cells of each line hold a figure, or there are many lines but few rules.
    """
    added: list[float] = []
    for top, bottom in pairwise(down):
        rows = rows_of([word for word in words if top <= (word.top + word.bottom) / 2 <= bottom])
        if len(rows) < 2:
            continue
        cells = [cell for row in rows for cell in _by_column(across, row)]
        figures = sum(bool(NUMBER.match(line_of(cell))) for cell in cells)
        many = len(down) <= 4 and len(rows) >= 6 and len(cells) > 1.5 * len(rows)
        if many or (2 * figures >= len(cells) > len(rows)):
            added += [row.top for row in rows[1:]]
    return _merged([*down, *added])


def _by_column(across: list[float], row: Row) -> list[list[Word]]:
    columns: dict[int, list[Word]] = {}
    for word in row.words:
        columns.setdefault(sum((word.x0 + word.x1) / 2 > x for x in across), []).append(word)
    return list(columns.values())


def _table(
    words: list[Word], rules: list[Rule], across: list[float], down: list[float]
) -> tuple[list[list[str]], set[int]]:
    """The cells' texts, and which words they use. Cells without a line between them are one."""
    width, height = len(across) - 1, len(down) - 1
    roots = {(y, x): (y, x) for y in range(height) for x in range(width)}

    def root(at: tuple[int, int]) -> tuple[int, int]:
        while roots[at] != at:
            at = roots[at]
        return at

    for y, x in list(roots):
        middle_x, middle_y = (across[x] + across[x + 1]) / 2, (down[y] + down[y + 1]) / 2
        if x + 1 < width and not _wall(rules, False, across[x + 1], middle_y):
            roots[root((y, x + 1))] = root((y, x))
        if y + 1 < height and not _wall(rules, True, down[y + 1], middle_x) and _ruled(rules, down[y + 1]):
            roots[root((y + 1, x))] = root((y, x))
    inside: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        x = sum((word.x0 + word.x1) / 2 > edge for edge in across[1:-1])
        y = sum((word.top + word.bottom) / 2 > edge for edge in down[1:-1])
        inside.setdefault(root((y, x)), []).append(word)
    cells: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for at in roots:
        cells.setdefault(root(at), []).append(at)
    if len(inside) < _LEAST_FILLED * len(cells) or not all(_rectangle(cells[at]) for at in inside):
        return [], set()  # a chart
    wide = {at for at in cells if len(cells[at]) > 1}
    inside = {at: cell for at, cell in inside.items() if at not in wide or len(cell) <= _MOST_WORDS}
    texts = {at: " ".join(line_of(row.words) for row in rows_of(cell)) for at, cell in inside.items()}
    grid = [[texts.get(root((y, x)), "") for x in range(width)] for y in range(height)]
    for y, x in (at for at in roots if root(at) != at):
        text, lone = grid[y][x], len({root((y, at)) for at in range(width)}) == 1
        grid[y][x] = (
            "" if lone or len(text) > _LONGEST_REPEATED else SAME_CELL if NUMBER.match(text) else text
        )
    columns = [x for x in range(width) if any(row[x] for row in grid)]
    used = {id(word) for cell in inside.values() for word in cell}
    return [[row[x] for x in columns] for row in grid if any(row)] if len(columns) > 1 else [], used


def _rectangle(cells: list[tuple[int, int]]) -> bool:
    ys, xs = {y for y, _ in cells}, {x for _, x in cells}
    return len(cells) == (max(ys) - min(ys) + 1) * (max(xs) - min(xs) + 1)


def _wall(rules: list[Rule], level: bool, at: float, along: float) -> bool:
    """Whether a rule is there."""
    for rule in rules:
        place, start, end = (rule.top, rule.x0, rule.x1) if level else (rule.x0, rule.top, rule.bottom)
        if rule.level == level and abs(place - at) <= _NEAR and start <= along <= end:
            return True
    return False


def _ruled(rules: list[Rule], y: float) -> bool:
    return any(rule.level and abs(rule.top - y) <= _NEAR for rule in rules)
