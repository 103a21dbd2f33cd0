"""Tables of a PDF's page whose cells have ruled lines around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from forethought.tools.documents.pdf_layout import Word, line_of, rows_of
from forethought.tools.documents.tables import NUMBER, SAME_CELL, markdown_table

_NEAR = 3.0
"""Points within which lines meet."""
MOST_RULES = 800
"""Lines of a page; more are a drawing."""
_LEAST_FILLED = 0.35
"""The share of cells with text below which the lines are a chart's."""
_LONGEST_REPEATED = 60
"""Characters of a cell over several columns or rows that is written in each."""
_MOST_WORDS = 80
"""Words of a cell over several columns or rows; more are not one cell but rows without lines."""
_Cell = tuple[int, int]


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

    def holds(self, x: float, y: float, near: float = 0.0) -> bool:
        """Whether a point is in it."""
        return self.x0 - near <= x <= self.x1 + near and self.top - near <= y <= self.bottom + near


def with_tables(words: list[Word], rules: Sequence[Rule]) -> list[Word]:
    """The words, but each ruled table as one `block`."""
    for group in _groups(rules) if len(rules) <= MOST_RULES else ():
        frame = Rule(
            *(min(each) if i % 2 == 0 else max(each) for i, each in enumerate(zip(*group, strict=True)))
        )
        across = _merged([*(rule.x0 for rule in group if not rule.level), *frame[:2]])
        down = _merged([*(rule.top for rule in group if rule.level), *frame[2:]])
        inside = [word for word in words if not word.block and frame.holds(*word.middle)]
        if len(across) > 2 and len(down) > 2 and inside:
            table, used = _table(inside, group, across, _with_lines(across, down, inside))
            if table:
                block = Word(markdown_table(table), *frame, block=True)
                words = [*(word for word in words if id(word) not in used), block]
    return words


def _groups(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Rules that touch each other."""
    left = list(rules)
    while left:
        group = [left.pop()]
        for rule in group:  # it grows
            group += (touching := [other for other in left if _touch(rule, other)])
            left = [other for other in left if other not in touching] if touching else left
        yield group


def _touch(one: Rule, other: Rule) -> bool:
    across = one.x0 <= other.x1 + _NEAR and other.x0 <= one.x1 + _NEAR
    return across and one.top <= other.bottom + _NEAR and other.top <= one.bottom + _NEAR


def _merged(places: list[float]) -> list[float]:
    """The places in order, of near ones the first."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > _NEAR:
            kept.append(place)
    return kept


def _with_lines(across: list[float], down: list[float], words: list[Word]) -> list[float]:
    """The edges of the rows, also of those without a rule between them: each line of these has several cells,
    and most cells hold a figure, or there are many lines but few rules.
    """
    added: list[float] = []
    for top, bottom in pairwise(down):
        rows = rows_of([word for word in words if top <= word.middle[1] <= bottom])
        cells: dict[_Cell, list[Word]] = {}
        for y, row in enumerate(rows):
            for word in row.words:
                cells.setdefault((y, _interval(word.middle[0], across)), []).append(word)
        figures = sum(bool(NUMBER.match(line_of(cell))) for cell in cells.values())
        many = len(down) <= 4 and len(rows) >= 6 and len(cells) > 1.5 * len(rows)
        if many or 2 * figures >= len(cells) > len(rows):
            added += [row.top for row in rows[1:]]
    return _merged([*down, *added])


def _interval(place: float, edges: list[float]) -> int:
    return sum(place > edge for edge in edges[1:-1])


def _table(
    words: list[Word], rules: list[Rule], across: list[float], down: list[float]
) -> tuple[list[list[str]], set[int]]:
    """The cells' texts, and which words they use. Cells without a line between them are one."""
    width, height = len(across) - 1, len(down) - 1
    roots = {(y, x): (y, x) for y in range(height) for x in range(width)}
    for y, x in roots:  # from the top left
        middle = (across[x] + across[x + 1]) / 2, (down[y] + down[y + 1]) / 2
        ruled = any(rule.level and abs(rule.top - down[y]) <= _NEAR for rule in rules)
        if x and not any(not rule.level and rule.holds(across[x], middle[1], _NEAR / 2) for rule in rules):
            roots[y, x] = roots[y, x - 1]
        elif (
            y
            and ruled
            and not any(rule.level and rule.holds(middle[0], down[y], _NEAR / 2) for rule in rules)
        ):
            roots[y, x] = roots[y - 1, x]
    inside: dict[_Cell, list[Word]] = {}
    for word in words:
        inside.setdefault(
            roots[_interval(word.middle[1], down), _interval(word.middle[0], across)], []
        ).append(word)
    if len(inside) < _LEAST_FILLED * len(set(roots.values())):
        return [], set()  # a chart
    sizes, ends = Counter(roots.values()), {root: at for at, root in roots.items()}  # the last cell of each
    if any(sizes[root] != (y + 1 - root[0]) * (x + 1 - root[1]) for root, (y, x) in ends.items()):
        return [], set()
    wide = {root for root, size in sizes.items() if size > 1}
    inside = {at: cell for at, cell in inside.items() if at not in wide or len(cell) <= _MOST_WORDS}
    texts = {at: " ".join(line_of(row.words) for row in rows_of(cell)) for at, cell in inside.items()}
    grid = [[texts.get(roots[y, x], "") for x in range(width)] for y in range(height)]
    for (y, x), root in roots.items():
        alone = len({roots[y, at] for at in range(width)}) == 1
        if root != (y, x):
            repeated = SAME_CELL if NUMBER.match(grid[y][x]) else grid[y][x]
            grid[y][x] = "" if alone or len(repeated) > _LONGEST_REPEATED else repeated
    columns = [x for x in range(width) if any(row[x] for row in grid)]
    used = {id(word) for cell in inside.values() for word in cell}
    return [[row[x] for x in columns] for row in grid if any(row)] if len(columns) > 1 else [], used
