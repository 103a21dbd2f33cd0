"""Embeddings of an index's passages, as an option: a search then finds other words of the same meaning.

The vectors are in a file beside the index, which only sqlite-vec can read. They are numbered by content and
place, so that a passage that is written anew keeps its vector.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from forethought.extras import install_command
from forethought.models.providers import account, check_key, split
from forethought.models.types import ConfigurationError
from forethought.settings import Settings
from forethought.text import one_line
from forethought.tools.files import FilesError
from forethought.tools.folders.database import Database, Row

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

_BATCH = 128
"""Passages that one request embeds."""
_NEAREST = 200
_FLAT = 60
"""Of reciprocal ranks: the larger, the less the first places count."""
_BITS = 27
"""Of a position in a text, which has at most 100 MB."""
PASSAGE = (
    "p.content, p.start, p.stop, p.line, p.place, p.heading,"
    " (SELECT f.name FROM files f WHERE f.content = p.content LIMIT 1)"
)
"""The columns of a row of passages, and the name of a file with it."""
T = TypeVar("T")
_KEY = f"(p.content << {_BITS} | p.start)"


def embeddings(settings: Settings) -> Embeddings:
    """The operator's embedding model, asked like the chat models. Raises ConfigurationError."""
    from langchain.embeddings import init_embeddings

    model = settings.embedding_model or ""
    check_key(model, settings)
    provider, name = split(model, settings.base_url)
    # Passages are short; to count their tokens, the package would download a table.
    options: dict[str, Any] = {"check_embedding_ctx_length": False} if provider == "openai" else {}
    try:
        return init_embeddings(name, provider=provider, **options, **account(settings))
    except (ImportError, ValueError) as error:
        raise ConfigurationError(f"embedding model {model}: {error}") from error


class Vectors(Database):
    """The vectors of an index. There are none without `use_embeddings`."""

    _model: Embeddings | None = None
    _model_name = ""

    def use_embeddings(self, settings: Settings) -> None:
        """Use the operator's embedding model, if there is one. Raises FilesError if it cannot be used."""
        if not settings.embedding_model:
            return
        try:
            import sqlite_vec

            self._db.enable_load_extension(True)
            sqlite_vec.load(self._db)
            self._db.enable_load_extension(False)
            self._attach("near", "-vectors")
            self._model, self._model_name = embeddings(settings), settings.embedding_model
        except ImportError as error:
            hint = install_command("embeddings")
            raise FilesError(f"FORETHOUGHT_EMBEDDING_MODEL needs sqlite-vec: {hint}") from error
        except AttributeError as error:
            hint = "use another build of Python, such as the one of Debian or Docker"
            raise FilesError(
                f"FORETHOUGHT_EMBEDDING_MODEL needs a Python whose SQLite loads extensions: {hint}"
            ) from error
        except ConfigurationError as error:
            raise FilesError(str(error)) from error

    def embed(self) -> None:
        """Make the missing vectors, and delete those of passages that are gone. Each batch is kept."""
        if self._model is None:
            return
        if self.about("embedding_model") != self._model_name:
            self._db.execute("DROP TABLE IF EXISTS near.vectors")
            self.set_about(embedding_model=self._model_name)
        known = (
            {key for (key,) in self._all("SELECT rowid FROM near.vectors")} if self._has_vectors else set()
        )
        passages = {row[0]: row[1:] for row in self._all(
            f"SELECT {_KEY}, content, start, stop, heading FROM passages p ORDER BY content, start"
        )}  # fmt: skip
        if gone := known - passages.keys():
            with self.writing():
                self._db.executemany("DELETE FROM near.vectors WHERE rowid = ?", [(key,) for key in gone])
        missing = [key for key in passages if key not in known]
        for at in range(0, len(missing), _BATCH):
            keys = missing[at : at + _BATCH]
            chosen = (passages[key] for key in keys)
            texts = [f"{head}\n{self._text(*place)}".strip() for *place, head in chosen]
            made = self._asked(partial(_embedded, texts))
            with self.writing():
                if not self._has_vectors:
                    column = f"vector float[{len(made[0])}] distance_metric=cosine"
                    self._db.execute(f"CREATE VIRTUAL TABLE near.vectors USING vec0({column})")
                rows = zip(keys, map(_packed, made), strict=True)
                # Another process may have made some of them.
                self._db.executemany("DELETE FROM near.vectors WHERE rowid = ?", [(key,) for key in keys])
                self._db.executemany("INSERT INTO near.vectors (rowid, vector) VALUES (?, ?)", rows)

    def nearest(self, query: str, chosen: str, among: Sequence[str]) -> list[Row] | None:
        """The passages whose vectors are nearest to the query's; None without embeddings.

        Args:
            query: Words, or a question.
            chosen: A query for the passages among which to look, or '' for all.
            among: Its values.

        Raises:
            FilesError: The embedding model failed.
        """
        if self._model is None or not self._has_vectors:
            return None
        vector = _packed(self._asked(lambda model: model.embed_query(query)))
        within = f" AND rowid IN {chosen.format(_KEY)}" if chosen else ""
        return self._all(
            f"SELECT {PASSAGE}, -found.distance FROM"
            f" (SELECT rowid, distance FROM near.vectors WHERE vector MATCH ? AND k = ?{within}) found"
            f" JOIN passages p ON p.content = found.rowid >> {_BITS}"
            f" AND p.start = found.rowid & {2**_BITS - 1}"
            " ORDER BY found.distance",
            vector, _NEAREST, *among,
        )  # fmt: skip

    @property
    def _has_vectors(self) -> bool:
        return self._row("SELECT 1 FROM near.sqlite_master WHERE name = 'vectors'") is not None

    def _asked(self, ask: Callable[[Embeddings], T]) -> T:
        assert self._model is not None
        try:
            return ask(self._model)
        except Exception as error:  # of any provider's package
            raise FilesError(f"embedding model {self._model_name}: {one_line(str(error))}") from error


def _embedded(texts: list[str], model: Embeddings) -> list[list[float]]:
    return model.embed_documents(texts)


def _packed(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def by_both(fitting: Sequence[Row], nearest: Sequence[Row]) -> list[Row]:
    """Two rankings of passages as one, by the sum of their reciprocal ranks, which becomes the score."""
    rows = {row[:2]: row for row in (*nearest, *fitting)}
    scores = defaultdict[Row, float](float)
    for ranking in (fitting, nearest):
        for rank, row in enumerate(ranking, 1):
            scores[row[:2]] += 1 / (_FLAT + rank)
    return [(*rows[key][:-1], score) for key, score in sorted(scores.items(), key=lambda item: -item[1])]
