from __future__ import annotations

import asyncio
import dataclasses
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.files import FileStore
from forethought.tools.python import PYTHON

Run = Callable[[str], Observation]


@pytest.fixture
def env(settings: Callable[..., Settings], tmp_path: Path) -> ToolEnv:
    store = FileStore(tmp_path / "files")
    files = {"prices.csv": store.put(b"tea,3\ncoffee,5\n"), "note.txt": store.put("café".encode())}
    limits = settings(python_seconds=1, python_memory_mb=64)
    return ToolEnv(settings=limits, files=files, store=store, results={"s1": "42", "s2": "a\nb"})


@pytest.fixture
def run(env: ToolEnv) -> Run:
    return lambda code: asyncio.run(call_tool(PYTHON, {"code": code}, env))


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("results['s2'].splitlines()", "['a', 'b']"),
        ("sorted(files)", "['note.txt', 'prices.csv']"),
        ("files['note.txt']", "café"),
        ("import time\ntime.sleep(1000)\n'slept'", "slept"),
    ],
)
def test_what_is_printed_and_the_last_value_are_shown(run: Run, code: str, shown: str) -> None:
    observed = run(code)
    assert (observed.text, observed.ok, observed.hint) == (shown, True, "")


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("[a * b for a in range(3) for b in range(3) if a != b]", "[0, 0, 0, 2, 0, 2]"),
        ("sorted([{'a': 2}, {'a': 1}], key=lambda d: d['a'])", "[{'a': 1}, {'a': 2}]"),
        ("d = {'a': 1}\nd.setdefault('b', 2)\nd.update(c=3)\nd.pop('a'), d.get('z'), list(d.items())", None),
        ("f'{3.14159:.2f} {1000000:,} {1!r:>3}'", "3.14 1,000,000   1"),
        ("sum([1, 2]), round(2.567, 2), divmod(7, 2), min(1, 2), max([3]), abs(-1), any([0]), all([])", None),
        ("list(zip('ab', [1, 2])), list(enumerate('a')), list(map(int, ['1']))", None),
        ("import json\njson.loads('{\"a\": [1, null]}'), json.dumps({'a': 1})", None),
        ("import re\nre.findall(r'\\d+', 'a1b22'), re.sub('a', 'b', 'aa')", "(['1', '22'], 'bb')"),
        ("import math\nmath.floor(1.5), math.comb(5, 2), math.isclose(0.1 + 0.2, 0.3)", "(1, 10, True)"),
        ("from decimal import Decimal\nstr(Decimal('1.1') + Decimal('2.2'))", "3.3"),
        ("from datetime import date, datetime, timedelta\n(date(2024, 3, 1) - date(2024, 2, 1)).days", "29"),
        ("import itertools\nlist(itertools.combinations([1, 2, 3], 2))", "[(1, 2), (1, 3), (2, 3)]"),
        ("import csv\nlist(csv.reader(['a,\"b,c\"']))", "[['a', 'b,c']]"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n  x: int\nP(3).x", "3"),
        ("try:\n  1 / 0\nexcept ZeroDivisionError as e:\n  print('caught', e)", "caught division by zero"),
        ("match [1, 2]:\n  case [a, b]:\n    print(a + b)", "3"),
    ],
)
def test_the_promises_of_the_description_hold(run: Run, code: str, shown: str | None) -> None:
    """Compare with CPython where no value is given."""
    if shown is None:
        *before, last = code.split("\n")
        space: dict[str, object] = {}
        exec("\n".join(before), space)
        shown = repr(eval(last, space))
    assert run(code).text == shown


@pytest.mark.parametrize(
    ("code", "said", "hint"),
    [
        ("x = (1,\ny", "SyntaxError", "send the whole program again"),
        ("raise ValueError('x')", "line 1, `raise ValueError('x')`: ValueError: x", "correct the code"),
        ("class A: pass\nclass B(A): pass", "does not support class inheritance", "a subset of Python"),
        ("def f():\n  yield 1", "does not support yield", "a subset of Python"),
        ("import statistics", "No module named 'statistics'", "only these modules exist: base64"),
        ("def f(): return f()\nf()", "RecursionError", ""),
    ],
)
def test_an_error_names_the_line_and_what_to_do(run: Run, code: str, said: str, hint: str) -> None:
    seen = run(code)
    assert (seen.ok, seen.cause) == (False, "tool")
    assert said in seen.text
    assert hint in seen.hint
    assert "monty" not in seen.text
    assert run(code) == seen


def test_calls_share_nothing(run: Run) -> None:
    run("x = 1")
    assert "name 'x' is not defined" in run("x").text


def test_files_are_read_only_when_the_code_names_them(
    run: Run, env: ToolEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise AssertionError("read without need")

    monkeypatch.setattr("forethought.tools.documents.reader.load_content", refuse)
    assert run("profiles = 3\nprofiles").text == "3"
    assert "read without need" in run("len(files)").text


def test_a_file_without_text_does_not_hide_the_others(env: ToolEnv) -> None:
    env = dataclasses.replace(env, files={**env.files, "gone.txt": "0" * 64})
    seen = asyncio.run(call_tool(PYTHON, {"code": "len(files), files['note.txt']"}, env))
    assert seen.text.startswith("(2, 'café')\n[not in `files`: gone.txt")
    failed = asyncio.run(call_tool(PYTHON, {"code": "files['gone.txt']"}, env))
    assert "KeyError" in failed.text
    assert "[not in `files`: gone.txt" in failed.text


TOO_BIG = "the code needed more than 64 MB of memory or printed more than 1 MB"
TOO_SLOW = "the code ran longer than 1 s and was stopped"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("'a' * (1 << 34)", TOO_BIG),
        ("9**9**9", TOO_BIG),
        ("while True: print('a' * 1000)", TOO_BIG),
        ("while True: pass", TOO_SLOW),
        ("sum(range(10**12))", TOO_SLOW),
        # Lists that share their parts are small in memory and a thousand million numbers when written out.
        ("x = [0] * 1000\ny = [x] * 1000\nz = [y] * 1000\nz", ""),
    ],
)
def test_memory_output_and_time_are_limited_and_nothing_runs_on(run: Run, code: str, said: str) -> None:
    before, began = threading.active_count(), time.monotonic()
    seen = run(code)
    assert time.monotonic() - began < 30, "for a slow machine: none of them would end"
    assert seen.cause == "limit" or (not said and seen.text.startswith("[[[0, 0"))
    assert seen.text.startswith(said)
    assert said == "" or len(seen.text) < 3000
    assert threading.active_count() <= before
    assert _busy_children() == []


def _busy_children() -> list[str]:
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [pid for path in children for pid in path.read_text().split()]
    return [pid for pid in pids if "monty" in Path(f"/proc/{pid}/comm").read_text()]


def test_code_too_deep_to_parse_is_an_error(run: Run) -> None:
    seen = run("-" * 100_000 + "1")
    assert (seen.ok, seen.cause) == (False, "tool")
    assert len(seen.text) < 1000


async def test_calls_run_side_by_side(env: ToolEnv) -> None:
    codes = [f"sum(range({n}))" for n in range(8)]
    seen = await asyncio.gather(*(call_tool(PYTHON, {"code": code}, env) for code in codes))
    assert [one.text for one in seen] == [str(sum(range(n))) for n in range(8)]


@pytest.mark.parametrize(
    ("code", "origin"),
    [
        ("files['note.txt']", "file:note.txt"),
        ("[text for text in files.values()]", "file:prices.csv, file:note.txt"),
        ("results['s1'] + files['note.txt']", "file:note.txt, web:example.org, file:c.txt"),
        ("1 + 1", "tool:python"),
    ],
)
def test_the_origin_is_the_files_and_results_that_the_code_names(
    env: ToolEnv, code: str, origin: str
) -> None:
    env = dataclasses.replace(env, origins={"s1": "web:example.org, file:c.txt"})
    assert asyncio.run(call_tool(PYTHON, {"code": code}, env)).origin == origin
