"""The index of one folder: its files, their text in passages, and the words in them (SQLite with FTS5).

Texts are kept by content hash, so that copies are read once. The table of words holds no text of its own
(`content=''`); a passage that is gone leaves its words behind, which a search skips, until there are so many
that they are written anew.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence

from forethought.tools.folders.database import Row
from forethought.tools.folders.passages import Passage
from forethought.tools.folders.records import Content, Entry, Hit
from forethought.tools.folders.vectors import PASSAGE, Vectors, by_both
from forethought.tools.folders.walk import Found
from forethought.tools.folders.words import language_of, query_terms, tokens

_BLOCK = 32_000
"""Characters of a text that are compressed together."""
_READ_ROWS = 10_000
"""Rows of words that a search reads, roughly: the commonest words of a long query are left out."""
_MOST_RANKED = 20_000
"""Rows that are ranked: of a word that is nearly everywhere, which tells little, the first ones."""
_CANDIDATES = 200
OF_ONE_FILE = 3
"""Passages of one file among the hits, while other files have some."""


class FolderIndex(Vectors):
    """An index in one SQLite file, or in memory."""

    _counted: tuple[object, tuple[int, int, int]] = None, (0, 0, 0)
    """The state of the file when its rows were counted last, and their numbers."""

    # For a scan.

    def manifest(self) -> dict[str, Found]:
        """The known files by name."""
        return {row[0]: Found(*row) for row in self._all("SELECT name, size, modified, reason FROM files")}

    def retry(self, limits: str) -> None:
        """Forget which contents could not be read, if that was under other limits."""
        if self.about("limits") != limits:
            with self.writing():
                failed = "SELECT id FROM contents WHERE reason != ''"
                self._db.execute(f"UPDATE files SET modified = 0 WHERE content IN ({failed})")
                self._db.execute("DELETE FROM contents WHERE reason != ''")
                self.set_about(limits=limits)

    def reason_of(self, content_hash: str) -> str | None:
        """Why a content that was read before has no text ('': it has); None if it was not read."""
        row = self._row("SELECT reason FROM contents WHERE hash = ?", content_hash)
        return row[0] if row else None

    def put(self, found: Found, content: Content | None) -> None:
        """Keep a file, within `writing`; its content is None if it could not be opened."""
        number = None if content is None else self._put_content(content, found.name)
        self._db.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
            (found.name, found.size, found.modified, number, found.reason),
        )

    def remove(self, names: Iterable[str]) -> None:
        """Forget files, within `writing`."""
        self._db.executemany("DELETE FROM files WHERE name = ?", [(name,) for name in names])

    def clean_up(self) -> None:
        """Drop contents without a file; write the words anew if many are of passages that are gone."""
        with self.writing():
            gone = "SELECT id FROM contents WHERE id NOT IN (SELECT ifnull(content, 0) FROM files)"
            for table in ("blocks", "passages"):
                self._db.execute(f"DELETE FROM {table} WHERE content IN ({gone})")
            self._db.execute(f"DELETE FROM contents WHERE id IN ({gone})")
            (live,) = self._db.execute("SELECT count(*) FROM passages").fetchone()
            if self._last_passage() > 2 * live + 1000:
                self._write_words_anew()

    def _put_content(self, content: Content, name: str) -> int:
        row = self._row("SELECT id, named FROM contents WHERE hash = ?", content.hash)
        if row is None:
            language = language_of(content.text)
            added = self._db.execute(
                "INSERT INTO contents (hash, language, characters, named, reason) VALUES (?, ?, ?, ?, ?)",
                (content.hash, language, len(content.text), name, content.reason),
            )
            number = int(added.lastrowid or 0)
            if language not in (known := self.about("languages").split()):
                self.set_about(languages=" ".join([*known, language]))
            self._put_blocks(number, content.text)
            self._put_passages(number, content.text, content.passages, name, language)
            return number
        number, named = row
        if name not in named.split("\n"):  # a copy, or a new name: its words count, too
            named = "\n".join([*named.split("\n"), name][-10:])
            self._db.execute("UPDATE contents SET named = ? WHERE id = ?", (named, number))
            self._rename(number, named)
        return int(number)

    def _put_blocks(self, number: int, text: str) -> None:
        starts = range(0, len(text), _BLOCK)
        rows = ((start, text[start : start + _BLOCK]) for start in starts)
        self._db.executemany(
            "INSERT INTO blocks VALUES (?, ?, ?, ?)",
            (
                (number, start, start + len(part), zlib.compress(part.encode("utf-8", "replace")))
                for start, part in rows
            ),
        )

    def _put_passages(
        self, number: int, text: str, passages: Sequence[Passage], named: str, language: str
    ) -> None:
        first = self._last_passage() + 1
        name_words = " ".join(tokens(" ".join(named.split("\n")), language))
        self._db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (at, number, each.start, each.stop, each.line, each.place, each.heading)
                for at, each in enumerate(passages, first)
            ),
        )
        self._db.executemany(
            "INSERT INTO words (rowid, name, heading, body) VALUES (?, ?, ?, ?)",
            (
                (
                    at,
                    name_words,
                    " ".join(tokens(each.heading, language)),
                    " ".join(tokens(text[each.start : each.stop], language)),
                )
                for at, each in enumerate(passages, first)
            ),
        )

    def _last_passage(self) -> int:
        """The highest number that a passage ever had: words of one that is gone are never another's."""
        row = self._row("SELECT seq FROM sqlite_sequence WHERE name = 'passages'")
        return row[0] if row else 0

    def _rename(self, number: int, named: str) -> None:
        rows = self._all("SELECT start, stop, line, place, heading FROM passages WHERE content = ?", number)
        (language,) = self._row("SELECT language FROM contents WHERE id = ?", number) or ("english",)
        self._db.execute("DELETE FROM passages WHERE content = ?", (number,))
        self._put_passages(number, self._text(number), [Passage(*row) for row in rows], named, language)

    def _write_words_anew(self) -> None:
        self._db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        self._db.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'passages'")
        self._db.execute("UPDATE passages SET id = -id")  # the numbers from 1 are free again
        for number, named in self._all("SELECT id, named FROM contents WHERE reason = ''"):
            self._rename(number, named)
        self._db.execute("INSERT INTO words (words) VALUES ('optimize')")

    # For tools.

    def counts(self) -> tuple[int, int, int]:
        """How many files there are, how many of them have no text, and their size in bytes."""
        state = (self._row("PRAGMA data_version"), self._db.total_changes)
        if state != self._counted[0]:
            row = self._row(
                "SELECT count(*), ifnull(sum(f.reason != '' OR c.reason != ''), 0), ifnull(sum(size), 0)"
                " FROM files f LEFT JOIN contents c ON c.id = f.content"
            )
            assert row is not None
            self._counted = state, (row[0], row[1], row[2])
        return self._counted[1]

    def entries(self, names: Sequence[str] | None = None) -> list[Entry]:
        """All files by name, or only the named ones."""
        chosen = "" if names is None else " WHERE f.name IN (SELECT value FROM json_each(?))"
        rows = self._all(
            "SELECT f.name, f.size, f.modified, ifnull(c.hash, ''), ifnull(c.characters, 0),"
            " CASE WHEN f.reason != '' THEN f.reason ELSE ifnull(c.reason, '') END"
            f" FROM files f LEFT JOIN contents c ON c.id = f.content{chosen} ORDER BY f.name",
            *([] if names is None else [_json(names)]),
        )
        return [Entry(*row) for row in rows]

    def name_of(self, content_hash: str) -> str:
        """The name of a file with this content ('' if there is none)."""
        row = self._row(
            "SELECT f.name FROM files f JOIN contents c ON c.id = f.content WHERE c.hash = ? LIMIT 1",
            content_hash,
        )
        return row[0] if row else ""

    def text(self, content_hash: str) -> str:
        """The text of a content ('' if it has none)."""
        row = self._row("SELECT id FROM contents WHERE hash = ?", content_hash)
        return self._text(row[0]) if row else ""

    def passages(self, content_hash: str) -> list[Passage]:
        """The passages of a content, in order."""
        rows = self._all(
            "SELECT p.start, p.stop, p.line, p.place, p.heading FROM passages p"
            " JOIN contents c ON c.id = p.content WHERE c.hash = ? ORDER BY p.start",
            content_hash,
        )
        return [Passage(*row) for row in rows]

    def search(
        self, query: str, limit: int = 20, names: Sequence[str] | None = None, of_one: int = OF_ONE_FILE
    ) -> list[Hit]:
        """The passages that fit `query` best, best first; of the files called `names` if any are given.

        After `of_one` passages of a file, other files come first.
        """
        chosen, among = "", list[str]()
        if names is not None:
            among = [_json(names)]
            chosen = (
                "(SELECT {} FROM passages p JOIN files f ON f.content = p.content"
                " WHERE f.name IN (SELECT value FROM json_each(?)))"
            )
        rows = self._fitting(self._match(query), limit, chosen, among)
        if (nearest := self.nearest(query, chosen, among)) is not None:
            rows = by_both(rows, nearest)
        first: list[Row] = []
        later: list[Row] = []
        seen: dict[int, int] = {}
        for row in rows:
            if row[6] is None:
                continue
            seen[row[0]] = seen.get(row[0], 0) + 1
            (first if seen[row[0]] <= of_one else later).append(row)
        return [self._hit(row) for row in [*first, *later][:limit]]

    def _fitting(self, match: str, limit: int, chosen: str, among: Sequence[str]) -> list[Row]:
        """The passages that a query for FTS5 fits best."""
        if not match:
            return []
        within = f" AND +words.rowid IN {chosen.format('p.id')}" if chosen else ""
        return self._all(
            f"SELECT {PASSAGE}, -found.rank FROM (SELECT rowid, rank FROM"
            f" (SELECT rowid, rank FROM words WHERE words MATCH ?{within} LIMIT ?) ORDER BY rank LIMIT ?)"
            " found JOIN passages p ON p.id = found.rowid ORDER BY found.rank",
            match, *among, _MOST_RANKED, max(_CANDIDATES, 3 * limit),
        )  # fmt: skip

    def _hit(self, row: Row) -> Hit:
        content, start, stop, line, place, heading, name, score = row
        text = self._text(content, start, stop).strip()
        return Hit(name, text, place or f"line {line}", heading, score, start)

    def _match(self, query: str) -> str:
        """The query for FTS5: any of the telling words, without the commonest if there are many rows."""
        terms = query_terms(query, self.about("languages").split())
        counted = [(sum(self._term_rows(form) for form in forms), forms) for forms in terms]
        chosen, rows = list[str](), 0
        for count, forms in sorted(counted, key=lambda item: item[0]):
            if not count:
                continue
            if chosen and rows + count > _READ_ROWS:
                break
            rows += count
            chosen += [f'"{form}"' for form in forms]
        return " OR ".join(dict.fromkeys(chosen))

    def _term_rows(self, form: str) -> int:
        """The rows with a word; of a common word, a few more than a search reads."""
        found = "SELECT 1 FROM words WHERE words MATCH ? LIMIT ?"
        row = self._row(f"SELECT count(*) FROM ({found})", f'"{form}"', _MOST_RANKED)
        return row[0] if row else 0


def _json(names: Sequence[str]) -> str:
    return json.dumps(list(names))
