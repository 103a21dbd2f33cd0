"""Read many files side by side: pack them into calls, check the values, read doubtful files again."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from forethought.tools.base import ReadQuestion, ToolEnv, ToolError
from forethought.tools.documents.document import stretches
from forethought.tools.each.fields import FieldSpec, Row, Value, agree, checked, confirmed, row_of
from forethought.tools.each.source import Source, load_source
from forethought.tools.each.store import ReadingStore

Json = dict[str, Any]
VERSION = 1
"""Of the prompt and the checks. Another version reads each file anew."""
PACK_FILES, PACK_CHARACTERS = 12, 12_000
"""Most files and characters of a call; a larger file has calls of its own."""
PART_CHARACTERS = 40_000
AT_ONCE = 8
_AROUND = 500
"""Characters around each quote that are read again, of a file in several parts."""
_LEAST_SAMPLE, _SAMPLE_SHARE = 10, 0.05
NOT_READ = "not read"


@dataclass(frozen=True)
class _Piece:
    """A part of a file, as a call gets it."""

    name: str
    number: int
    of: int
    text: str
    source: Source


@dataclass
class Reading:
    """One question to many files, and the rows so far."""

    question: str
    fields: Sequence[FieldSpec]
    env: ToolEnv
    ask: ReadQuestion
    store: ReadingStore
    rows: dict[str, Row] = field(default_factory=dict)
    calls: int = 0
    kept: int = 0
    """Files that had been read before."""
    compared: int = 0
    """Rows that were read a second time, as a sample."""
    agreed: int = 0
    over: str = ""
    """Why no further call is made."""
    _parts: dict[str, list[Json | None]] = field(default_factory=dict)
    _hashes: dict[str, str] = field(default_factory=dict)

    def unread(self, names: Sequence[str]) -> list[str]:
        """The files that no earlier call has read. Blocking."""
        self._hashes = {name: self.env.files[name] for name in names}
        return [name for name in names if self.store.reading(self._key(name, "first", 0)) is None]

    async def run(self, names: Sequence[str]) -> None:
        """Read the files: once, again if a row is doubtful, and a sample a second time."""
        self._hashes = {name: self.env.files[name] for name in names}
        copies: dict[str, list[str]] = {}
        for name in names:
            copies.setdefault(self._hashes[name], []).append(name)
        own = [same[0] for same in copies.values()]
        self.rows = await self._read(own, "first", main=False)
        if again := [
            name for name in own if self.rows[name].status in ("doubtful", "failed") and not self.over
        ]:
            for name, row in (await self._read(again, "again", main=True)).items():
                self.rows[name] = _settled(self.rows[name], row)
        sure = [name for name in own if self.rows[name].status == "ok"]
        if sure and not self.over:
            await self._compare(self._sample(sure, len(own)))
        for first, *others in copies.values():
            self.rows |= {name: replace(self.rows[first], name=name) for name in others}

    def _sample(self, sure: Sequence[str], count: int) -> list[str]:
        """Files chosen by chance, each time and with each model the same; of few files half."""
        size = min(max(_LEAST_SAMPLE, round(_SAMPLE_SHARE * count)), (count + 1) // 2)

        def order(name: str) -> str:
            return hashlib.sha256(f"{self._hashes[name]} {self.question}".encode()).hexdigest()

        return sorted(sure, key=order)[:size]

    async def _compare(self, sample: Sequence[str]) -> None:
        """Count the rows that agree. Two readings word a text differently, so other fields come first."""
        plain = [spec.name for spec in self.fields if spec.type != "text"]
        compared = plain or [spec.name for spec in self.fields]
        for name, second in (await self._read(sample, "second", main=True)).items():
            if second.status not in ("ok", "doubtful"):
                continue
            row = self.rows[name]
            differing = [key for key in compared if not agree(row.values[key], second.values[key])]
            self.compared += 1
            self.agreed += not differing
            if differing:
                said = "; ".join(
                    f"{key}: a second reading says {second.values[key].value!r}" for key in differing
                )
                self.rows[name] = replace(row, status="doubtful", why=said)

    async def _read(self, names: Sequence[str], reading: str, *, main: bool) -> dict[str, Row]:
        """The rows of the files. Files that were not read yet are read now, small ones together."""
        gate, calls = asyncio.Semaphore(AT_ONCE), list[asyncio.Task[None]]()
        rows: dict[str, Row] = {}
        parts: dict[str, list[Json | None]] = {}

        async def call(pack: Sequence[_Piece]) -> None:
            try:
                for piece, record in zip(pack, await self._ask(pack, reading, main), strict=True):
                    parts[piece.name][piece.number] = record
            finally:
                gate.release()
            self._tell(names, parts, reading)

        pack: list[_Piece] = []
        try:
            for name in names:
                try:
                    pieces = await self._missing(name, reading, parts)
                except ToolError as error:
                    rows[name] = Row(name, "unreadable", error.message)
                    continue
                for piece in pieces:
                    if pack and not _fits(pack, piece):
                        await gate.acquire()
                        calls.append(asyncio.create_task(call(pack)))
                        pack = []
                    pack.append(piece)
            if pack:
                await gate.acquire()
                calls.append(asyncio.create_task(call(pack)))
            await asyncio.gather(*calls)
        finally:
            for task in calls:
                task.cancel()
        if reading == "first":
            self._parts = parts
        return {name: rows.get(name) or self._merged(name, parts[name]) for name in names}

    async def _missing(self, name: str, reading: str, parts: dict[str, list[Json | None]]) -> list[_Piece]:
        """The parts of a file that were not read before; those that were are put into `parts`."""
        head = await asyncio.to_thread(self.store.reading, self._key(name, reading, 0))
        if head is not None:
            keys = [self._key(name, reading, number) for number in range(1, head["of"])]
            rest = [await asyncio.to_thread(self.store.reading, key) for key in keys]
            parts[name] = [head, *rest]
            if None not in rest:
                self.kept += reading == "first"
                return []
        source = await load_source(self.env, name)
        texts = list(self._texts(name, source, reading))
        found = parts.setdefault(name, [None] * len(texts))
        return [
            _Piece(name, number, len(texts), text, source)
            for number, text in enumerate(texts)
            if found[number] is None
        ]

    def _texts(self, name: str, source: Source, reading: str) -> Iterator[str]:
        """The text in parts; the second reading of a large file sees only the text around the quotes."""
        if len(source.text) > PART_CHARACTERS and reading != "first":
            values = [
                one for part in self._parts.get(name, []) if part for one in part.get("values", {}).values()
            ]
            places = sorted(
                {at for one in values if one["quote"] and (at := source.find(one["quote"])) is not None}
            )
            if around := [source.text[max(at - _AROUND, 0) : at + _AROUND] for at in places]:
                yield "\n[...]\n".join(around)[:PART_CHARACTERS]
                return
        yield from stretches(source.text, PART_CHARACTERS)

    async def _ask(self, pack: Sequence[_Piece], reading: str, main: bool) -> list[Json]:
        """A record of each piece. Each reply is kept before it is used."""
        if self.over:
            return [{"failed": f"{NOT_READ}: {self.over}"}] * len(pack)
        self.calls += 1
        try:
            replies = await self.ask(self.question, self.fields, [(one.name, one.text) for one in pack], main)
        except ToolError as error:
            if error.cause in ("limit", "unavailable"):
                self.over = self.over or error.message
                return [{"failed": f"{NOT_READ}: {error.message}"}] * len(pack)
            return [{"failed": error.message}] * len(pack)
        records, keep = list[Json](), dict[str, Json]()
        for piece, reply in zip(pack, replies, strict=True):
            if reply is None:
                records.append({"failed": "the model gave no row"})
                continue
            values = {
                spec.name: asdict(checked(spec, reply.get(spec.name), piece.source)) for spec in self.fields
            }
            keep[self._key(piece.name, reading, piece.number)] = {"of": piece.of, "values": values}
            records.append({"of": piece.of, "values": values})
        await asyncio.to_thread(self.store.keep, keep)
        return records

    def _merged(self, name: str, parts: Sequence[Json | None]) -> Row:
        """The row of a file from its parts."""
        failed = next((part["failed"] for part in parts if part and "failed" in part), "")
        if failed or None in parts:
            return Row(name, "failed", failed or NOT_READ)
        return row_of(name, {spec.name: _joined([
            Value(**part["values"][spec.name]) for part in parts if part
        ]) for spec in self.fields})  # fmt: skip

    def _key(self, name: str, reading: str, number: int) -> str:
        """The key of a reading: the content's hash and all that the reply depends on, but not the name."""
        model = self.ask.models[reading != "first"]
        fields = [spec.model_dump() for spec in self.fields]
        content = self._hashes[name]
        parts = [VERSION, self.question, fields, model, reading, number, PART_CHARACTERS]
        return f"{content} {hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"

    def _tell(self, names: Sequence[str], parts: Mapping[str, Sequence[Json | None]], reading: str) -> None:
        if reading == "first":
            done = [records for records in parts.values() if None not in records]
            doubtful = sum(any(_is_doubtful(one) for one in records) for records in done)
            self.ask.progress(len(done), len(names), doubtful)
            told = {"done": len(done), "total": len(names), "doubtful": doubtful}
            self.store.tell(self.ask.call, told)


def _is_doubtful(record: Json | None) -> bool:
    return any(value["doubt"] for value in (record or {}).get("values", {}).values())


def _fits(pack: Sequence[_Piece], piece: _Piece) -> bool:
    size = sum(len(one.text) for one in pack) + len(piece.text)
    return len(pack) < PACK_FILES and size <= PACK_CHARACTERS


def _joined(found: Sequence[Value]) -> Value:
    """One value from the parts of a file."""
    said = [value for value in found if value.value is not None]
    if not said:
        return next((value for value in found if value.doubt), Value())
    if all(value.value in ("yes", "no") for value in said):
        return next((value for value in said if value.value == "yes"), said[0])
    best = next((value for value in said if not value.doubt), said[0])
    if other := next((value for value in said if not agree(value, best)), None):
        return replace(best, doubt=f"parts of the file differ: {best.value!r} and {other.value!r}")
    return best


def _settled(before: Row, now: Row) -> Row:
    """The row of a file that was read again; a reading that failed changes nothing."""
    if now.status not in ("ok", "doubtful"):
        return before
    values = {key: confirmed(before.values.get(key, Value()), value) for key, value in now.values.items()}
    return row_of(now.name, values)
