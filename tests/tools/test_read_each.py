from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.call import call_tool
from forethought.tools.each.fields import FieldSpec, Value, checked
from forethought.tools.each.reading import PACK_CHARACTERS, PACK_FILES, PART_CHARACTERS
from forethought.tools.each.source import Source
from forethought.tools.each.store import NAME, TABLE, ReadingStore, stored_table, tables_in
from forethought.tools.files import FileStore
from forethought.tools.folders.given import access
from forethought.tools.folders.intake import index_folder
from forethought.tools.python import PYTHON
from forethought.tools.read_each import READ_EACH
from forethought.tools.registry import offered, toolbox

Json = dict[str, Any]
TOTAL: Json = {"name": "total", "type": "number", "description": "Amount due."}
LATE: Json = {"name": "late", "type": "yes_no", "description": ""}

ELSEWHERE = "its number or date is not in the quote"


@dataclass
class Reader:
    """A reader that finds totals in invoices, and does as a test wants on the texts that a pattern fits."""

    wrong: Mapping[str, Any] = field(default_factory=dict)
    """By a part of the text: its row on the first reading, or an error to raise."""
    models: tuple[str, str] = ("small", "large")
    most_files: int = 500
    call: str = "t 1"
    most_calls: int = 10**6
    packs: list[tuple[list[str], bool]] = field(default_factory=list)
    told: list[tuple[int, int, int]] = field(default_factory=list)

    async def __call__(
        self, question: str, fields: Sequence[FieldSpec], texts: Sequence[tuple[str, str]], again: bool
    ) -> list[Mapping[str, Any] | None]:
        if len(self.packs) >= self.most_calls:
            raise ToolError("this step's share of the tokens budget is spent", cause="limit")
        self.packs.append(([name for name, _ in texts], again))
        return [self._row(text, again) for _, text in texts]

    def _row(self, text: str, again: bool) -> Mapping[str, Any] | None:
        for part, said in self.wrong.items():
            if part in text and not again:
                if isinstance(said, Exception):
                    raise said
                return None if said is None else {"total": said, "late": said}
        found = re.search(r"Total: EUR ([\d.]+)", text)
        total = {"quote": found[0], "value": float(found[1])} if found else {"quote": "", "value": None}
        late = re.search(r"paid late", text)
        return {"total": total, "late": {"quote": late[0] if late else "", "value": "yes" if late else "no"}}

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.01

    def progress(self, done: int, total: int, doubtful: int) -> None:
        self.told.append((done, total, doubtful))


@pytest.fixture
def env(tmp_path: Path, settings: Callable[..., Settings]) -> Callable[..., ToolEnv]:
    def make(contents: Mapping[str, str | bytes], **wrong: Any) -> ToolEnv:
        store = FileStore(tmp_path / "blobs")
        data = {name: text.encode() if isinstance(text, str) else text for name, text in contents.items()}
        files = {name: store.put(content) for name, content in data.items()}
        return ToolEnv(settings(), files=files, store=store, read=Reader(wrong))

    return make


def invoices(count: int) -> dict[str, str]:
    return {
        f"in/{n:03}.txt": f"Invoice {n}\n\nTotal: EUR {n}.50\n{'It was paid late.' if n % 3 == 0 else ''}"
        for n in range(count)
    }


async def read(
    env: ToolEnv, files: str | list[str] = "in/*", fields: Sequence[Json] = (TOTAL,)
) -> Observation:
    arguments = {"files": files, "question": "What is due?", "fields": list(fields)}
    return await call_tool(READ_EACH, arguments, env)


def reader(env: ToolEnv) -> Reader:
    assert isinstance(env.read, Reader)
    return env.read


def rows(env: ToolEnv, observation: Observation) -> list[Json]:
    """The rows that an observation names."""
    assert env.store is not None
    header, *body = stored_table(env.store, TABLE.findall(observation.text)[0]) or []
    return [dict(zip(header, row, strict=True)) for row in body]


async def test_a_row_for_each_file_with_value_quote_and_place(env: Any) -> None:
    made = env(invoices(40))
    observation = await read(made, fields=[TOTAL, LATE])
    assert observation.ok, observation
    found = rows(made, observation)
    assert len(found) == 40
    assert found[7]["total"] == 7.5
    assert (found[7]["total_quote"], found[7]["total_place"]) == ("Total: EUR 7.50", "line 3")
    assert [row["late"] for row in found[:4]] == ["yes", "no", "no", "yes"]
    assert "sum 800.0" in observation.text
    assert "no 26, yes 14" in observation.text
    assert "Second reading of 10 rows: 10 agree" in observation.text


async def test_code_gets_the_rows(env: Any) -> None:
    made = env(invoices(12))
    observation = await read(made)
    code = "rows = tables['readings']; sum(row[1] for row in rows[1:])"
    with_table = replace(made, tables=tables_in(observation.text))
    assert (await call_tool(PYTHON, {"code": code}, with_table)).text == "72.0"


async def test_small_files_share_a_call_and_large_ones_have_parts(env: Any) -> None:
    large = "word " * (PART_CHARACTERS // 4) + "Total: EUR 9.00"
    made = env({**invoices(30), "in/large.txt": large, "in/mid.txt": "x " * PACK_CHARACTERS})
    observation = await read(made)
    first = [names for names, again in reader(made).packs if not again]
    assert all(len(names) <= PACK_FILES for names in first)
    assert sum(names == ["in/large.txt"] for names in first) == 2
    assert next(row for row in rows(made, observation) if row["file"] == "in/large.txt")["total"] == 9


async def test_nothing_is_read_twice(env: Any) -> None:
    made = env(invoices(20))
    await read(made)
    paid = len(reader(made).packs)
    renamed = replace(made, files={f"new/{n}": value for n, value in enumerate(made.files.values())})
    observation = await read(renamed, "new/*")
    assert len(reader(made).packs) == paid, "contents count, not names"
    assert "20 files: 20 ok" in observation.text
    await read(made, fields=[LATE])
    assert len(reader(made).packs) > paid, "another question is read anew"


async def test_copies_are_read_once(env: Any) -> None:
    made = env({f"in/{n}.txt": "Total: EUR 5.00" for n in range(30)})
    observation = await read(made)
    assert [len(names) for names, again in reader(made).packs if not again] == [1]
    assert "sum 150" in observation.text


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"quote": "Total: EUR 700.00", "value": 700}, "ok"),
        ({"quote": "", "value": 3}, "ok"),
        ({"quote": "Total: EUR 3.50", "value": "about three"}, "ok"),
        (None, "ok"),
    ],
)  # fmt: skip
async def test_doubtful_and_failed_rows_are_read_again_by_the_main_model(
    env: Any, said: Any, status: str
) -> None:
    made = env(invoices(10), **{"Invoice 3\n": said})
    observation = await read(made)
    assert (["in/003.txt"], True) in reader(made).packs
    found = rows(made, observation)[3]
    assert (found["total"], found["status"]) == (3.5, status)


async def test_a_second_reading_that_differs_makes_a_row_doubtful(env: Any) -> None:
    made = env(
        {"in/a.txt": "Total: EUR 2.00 and Total: EUR 3.00"},
        Total={"quote": "Total: EUR 3.00", "value": 3},
    )
    observation = await read(made)
    assert rows(made, observation)[0]["status"] == "doubtful"
    assert "Second reading of 1 row: 0 agree, so about 100%" in observation.text


@dataclass
class Wordy(Reader):
    """A reader that words a remark differently each time."""

    def _row(self, text: str, again: bool) -> Mapping[str, Any] | None:
        remark = {"quote": text[:7], "value": "paid late" if again else "not in time"}
        return {**(super()._row(text, again) or {}), "remark": remark}


@pytest.mark.parametrize(("fields", "agree"), [(1, 0), (2, 10)])
async def test_words_of_a_text_count_only_if_no_other_field_can_be_compared(
    env: Any, fields: int, agree: int
) -> None:
    made = replace(env(invoices(40)), read=Wordy())
    remark = {"name": "remark", "type": "text", "description": ""}
    observation = await read(made, fields=[remark, TOTAL][:fields])
    assert f"Second reading of 10 rows: {agree} agree" in observation.text


async def test_every_file_is_accounted_for(env: Any) -> None:
    broken = {"in/scan.pdf": b"%PDF-1.4 broken", "in/empty.txt": b""}
    made = env({**invoices(5), **broken}, **{"Invoice 2\n": ToolError("the model refused", cause="tool")})
    made.read.wrong = {"Invoice 2\n": ToolError("the model refused", cause="tool")}
    observation = await read(made)
    statuses = {row["file"]: row["status"] for row in rows(made, observation)}
    assert len(statuses) == 7
    assert statuses["in/scan.pdf"] == statuses["in/empty.txt"] == "unreadable"
    assert "Unreadable: in/empty.txt" in observation.text


async def test_the_budget_stops_it_and_the_same_call_goes_on(env: Any) -> None:
    made = env(invoices(60))
    reader(made).most_calls = 2
    observation = await read(made)
    assert "24 ok" in observation.text
    assert "36 failed" in observation.text
    assert "stopped early" in observation.text
    reader(made).most_calls = 100
    observation = await read(made)
    assert "60 ok" in observation.text
    assert sum(len(names) for names, again in reader(made).packs if not again) == 60


async def test_the_person_is_asked_about_many_files(env: Any) -> None:
    made = env(invoices(30))
    reader(made).most_files = 20
    assert (await read(made)).cause == "limit", "code cannot ask"
    asked: list[str] = []

    def ask(reply: str) -> ToolEnv:
        return replace(made, ask=lambda question, choices: asked.append(question) or reply)

    assert (await read(ask("do not"))).cause == "rejected"
    assert not reader(made).packs
    assert (await read(ask("read them"))).ok
    assert "30 files" in asked[0]
    assert "$0.01" in asked[0]


async def test_progress_is_told(env: Any) -> None:
    made = env(invoices(30))
    await read(made)
    assert reader(made).told[-1] == (30, 30, 0)


@pytest.mark.parametrize(
    ("files", "fields"),
    [
        ("nothing/*", [TOTAL]),
        ("in/*", []),
        ("in/*", [TOTAL, TOTAL]),
        ("in/*", [{"name": "a b", "type": "text"}]),
    ],
)
async def test_wrong_arguments_get_an_answer(env: Any, files: str, fields: list[Json]) -> None:
    observation = await read(env(invoices(3)), files, fields)
    assert not observation.ok
    assert observation.hint or observation.text
    assert observation.cause in ("arguments", "not_found")


async def test_files_of_a_folder_are_read_from_its_index(tmp_path: Path, env: Any) -> None:
    made = env({})
    root = tmp_path / "bills"
    for name, text in invoices(15).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "in" / "scan.pdf").write_bytes(b"%PDF-1.4 broken")
    ref, _ = index_folder(root, made.settings)
    observation = await read(replace(made, **access([], [ref], made.settings, made.store)))
    assert "16 files: 15 ok, 0 doubtful, 1 unreadable" in observation.text


@pytest.mark.parametrize(
    ("kind", "given", "value", "doubt"),
    [
        ("number", {"quote": "sum is 1.204,50 EUR", "value": 1204.5}, 1204.5, ""),
        ("number", {"quote": "SUM  is 1.204,50", "value": "1204.50"}, 1204.5, ""),
        ("number", {"quote": "sum is 1.204,50 EUR", "value": 12.5}, 12.5, ELSEWHERE),
        ("date", {"quote": "on 28.11.2026", "value": "2026-12-28"}, "2026-12-28", ELSEWHERE),
        ("number", {"quote": "sum is 1.204,5", "value": 1204.5}, 1204.5, "the quote is not in the file"),
        ("date", {"quote": "on 28.11.2026", "value": "2026-11-28"}, "2026-11-28", ""),
        ("date", {"quote": "on 28.11.2026", "value": "soon"}, "soon", "it is not a date"),
        ("yes_no", {"quote": "", "value": "no"}, "no", ""),
        ("yes_no", {"quote": "", "value": True}, "yes", "there is no quote"),
        ("yes_no", {"quote": "x", "value": "maybe"}, None, "'maybe' is neither yes nor no"),
        ("text", {"quote": "“sum” is", "value": "a sum"}, "a sum", ""),
        ("text", "no object", "no object", "there is no quote"),
        ("text", {"quote": "", "value": None}, None, ""),
    ],
)  # fmt: skip
def test_a_value_is_checked_against_the_file(kind: Any, given: Any, value: Any, doubt: str) -> None:
    source = Source('The "sum" is\nhere. The sum is 1.204,50 EUR,\ndue on 28.11.2026.')
    found = checked(FieldSpec(name="a", type=kind), given, source)
    assert (found.value, found.doubt) == (value, doubt)


def test_the_store_keeps_readings_sealed_if_there_is_a_key(tmp_path: Path) -> None:
    from forethought.storage.encryption import cipher_of

    files = FileStore(tmp_path, cipher_of(b"k" * 32))
    store = ReadingStore(files)
    store.keep({"a": {"said": "secret words"}})
    assert store.reading("a") == {"said": "secret words"}
    store.close()
    assert b"secret words" not in b"".join(path.read_bytes() for path in tmp_path.glob(f"{NAME}*"))


def test_read_each_is_offered_for_many_files(settings: Callable[..., Settings]) -> None:
    item: Any = {"name": "a.txt", "hash": "", "size": 1, "type": "text/plain"}
    tools = toolbox(settings())
    assert "read_each" not in offered(tools, [item] * 9)
    assert "read_each" in offered(tools, [item] * 10)
    assert json.dumps(Value().quote) == '""'


async def test_the_caller_names_the_table_and_rows_with_yes_come_first(env: Any) -> None:
    made = env(invoices(40))
    arguments = {"files": "in/*", "question": "What is due?", "fields": [LATE, TOTAL], "table": "invoices"}
    observation = await call_tool(READ_EACH, arguments, made)
    assert tables_in(observation.text).keys() == {"invoices"}
    told = observation.text[observation.text.index("Rows, those with yes first") :]
    assert told.index("in/039.txt: late yes") < told.index("in/001.txt: late no")
    assert told.count("late yes") == 14
    wrong = await call_tool(READ_EACH, {**arguments, "table": "my table"}, made)
    assert (wrong.ok, wrong.cause) == (False, "arguments")


async def test_a_column_is_never_a_word_of_sql_nor_another_column(env: Any) -> None:
    fields = [{**TOTAL, "name": name} for name in ("end", "status", "total", "total_quote")]
    observation = await read(env(invoices(2)), fields=fields)
    assert "file, end_, status_, total, total_quote_, status, why" in observation.text


async def test_of_an_archive_only_its_members_are_read(env: Any) -> None:
    made = env({"a.zip": "a.txt, b.txt", "a.zip/a.txt": "Total: EUR 1.5", "a.zip/b.txt": "Total: EUR 2.5"})
    found = rows(made, await read(made, "a*"))
    assert [row["file"] for row in found] == ["a.zip/a.txt", "a.zip/b.txt"]


def test_a_quote_may_be_divided_at_the_end_of_a_line() -> None:
    source = Source("The notice pe-\nriod is three\nmonths.")
    assert source.find("The notice period is three months.") == 0
    assert source.find("notice periods") is None
