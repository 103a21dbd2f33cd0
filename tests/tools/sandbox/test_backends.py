"""The two backends of the sandbox: what they share, and what differs."""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import replace
from typing import Any, Literal

import pytest

from forethought.extras import install_command
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.call import call_tool
from forethought.tools.python import PYTHON, python_tool
from forethought.tools.sandbox.program import Program
from forethought.tools.sandbox.sandlock import run_sandlock, why_not

Name = Literal["monty", "sandlock"]
confined = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
BOTH = ["monty", pytest.param("sandlock", marks=confined)]


def run(backend: Name, code: str, **options: Any) -> Observation:
    """What the tool shows."""
    settings = Settings(python_backend=backend, python_seconds=5)
    return asyncio.run(call_tool(PYTHON, {"code": code}, ToolEnv(settings=settings, **options)))


@pytest.mark.parametrize("backend", BOTH)
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("print('a', 1, sep='-')", "a-1"),
        ("print('a', end='')\n3", "a\n3"),
        ("x = [1,\n 2]\n(x\n  .index(2))", "1"),
        ("print('é')\n'日本'", "é\n日本"),
        ("{'a': [1.5, None]}", "{'a': [1.5, None]}"),
        ("int(results['s1']) + 1", "43"),
        ("import random\nrandom.random() == random.random()", "False"),
    ],
)
def test_both_backends_show_the_same(backend: Name, code: str, shown: str) -> None:
    seen = run(backend, code, results={"s1": "42"})
    assert (seen.text, seen.ok) == (shown, True)


@pytest.mark.parametrize("backend", BOTH)
@pytest.mark.parametrize(
    ("code", "said", "cause"),
    [
        ("a = 1\nprint(a / 0)", "line 2, `print(a / 0)`: ZeroDivisionError: division by zero", "tool"),
        ("def f(x):\n  return 1 / x\nf(0)", "line 2, `return 1 / x`: ZeroDivisionError", "tool"),
        ("print('so far')\n1 / 0", "printed before that:\nso far", "tool"),
        ("x = 1", "showed nothing", "empty"),
        ("print()", "showed nothing", "empty"),
        ("import no_such_module", "No module named 'no_such_module'", "tool"),
        ("'\ud800'", "not valid Unicode", "arguments"),
    ],
)
def test_both_backends_fail_in_the_same_words(backend: Name, code: str, said: str, cause: str) -> None:
    seen = run(backend, code)
    assert (seen.ok, seen.cause) == (False, cause)
    assert said in seen.text
    assert run(backend, code) == seen


@pytest.mark.parametrize("backend", BOTH)
def test_random_numbers_are_the_same_each_time(backend: Name) -> None:
    code = "import random\nrandom.random(), sorted(set('abcdef'))"
    assert run(backend, code).text == run(backend, code).text


@confined
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("class A: pass\nclass B(A): pass\nB.__mro__[1].__name__", "A"),
        ("def f():\n  yield 1\nlist(f())", "[1]"),
        ("import statistics\nstatistics.median([1, 5, 2])", "2"),
        ("import sqlite3\nc = sqlite3.connect('x.db')\nc.execute('select 40 + 2').fetchone()[0]", "42"),
        ("open('a.txt', 'w').write('x')\nopen('a.txt').read()", "x"),
        ("import os\nos.listdir('.')", "[]"),
        ("import os\nsorted(set(os.environ) - {'LC_CTYPE'})", None),
        ("import asyncio\nasyncio.run(asyncio.sleep(0, 'slept'))", "slept"),
        ("import sys\nprint('to stderr', file=sys.stderr)", "to stderr"),
        ("import sys\nprint('said')\nsys.exit()", "said"),
        ("import httpx\nhttpx.__name__", "httpx"),
    ],
)
def test_sandlock_offers_the_whole_of_python(code: str, shown: str | None) -> None:
    text = run("sandlock", code).text
    if shown is not None:
        assert text == shown
    assert "KEY" not in text


def test_the_description_is_the_backends_own() -> None:
    small = python_tool(Settings())
    full = python_tool(Settings(python_backend="sandlock"))
    assert "Not there: other modules (pandas, " in small.description
    assert "standard library" in full.description
    assert "class inheritance" not in full.description
    assert small.timeout_s > Settings().python_seconds


@pytest.mark.parametrize("backend", BOTH)
def test_what_the_description_calls_ready_is_ready_without_an_import(backend: Name) -> None:
    description = python_tool(Settings(python_backend=backend)).description
    listed = re.search(r"Imported already: ([^.]*)\.", description)
    assert listed
    assert {"re", "datetime", "csv"} <= set(listed[1].split(", "))
    for module in listed[1].split(", "):
        assert module in run(backend, f"repr({module})").text
        assert run(backend, f"import {module}\n'again'").text == "again"
    for module, names in re.findall(r"of (collections|functools) only ([^.;]*)", description, re.IGNORECASE):
        for name in names.split(", "):
            assert run(backend, f"{module}.{name}\nfrom {module} import {name}\n'there'").text == "there"


def test_what_the_description_calls_absent_is_absent() -> None:
    absent = re.search(r"other modules \(([^)]*)\)", python_tool(Settings()).description)
    assert absent
    for name in re.findall(r"\w+", absent[1]):
        assert run("monty", f"import {name}").cause == "tool"
    assert run("monty", "collections.OrderedDict").cause == "tool"


def test_the_description_states_the_limits_in_force() -> None:
    described = python_tool(Settings(python_seconds=33)).description
    assert "is stopped after 33 s" in " ".join(described.split())
    assert "the middle is left out" in described


def test_an_old_kernel_is_named_and_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    sandlock = pytest.importorskip("sandlock")
    monkeypatch.setattr(sandlock, "landlock_abi_version", lambda: 3)
    monkeypatch.setattr(sandlock.Sandbox, "popen", lambda *_: pytest.fail("it ran"))
    with pytest.raises(ToolError, match="cannot confine programs: it has Landlock ABI 3") as caught:
        run_sandlock(Program("print(1)"))
    assert (caught.value.cause, "monty" in caught.value.hint) == ("unavailable", True)


def test_a_missing_package_and_another_system_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setitem(sys.modules, "sandlock", None)
    seen = run("sandlock", "1 + 1")
    assert (seen.ok, seen.cause, seen.hint) == (False, "unavailable", install_command("sandbox"))
    monkeypatch.setattr("sys.platform", "darwin")
    assert "needs Linux" in run("sandlock", "1 + 1").text


@confined
def test_a_sandbox_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forethought.tools.sandbox.sandlock._readable", lambda python: ["/nowhere"])
    seen = run("sandlock", "1 + 1")
    assert (seen.ok, seen.cause) == (False, "unavailable")


async def test_a_program_over_its_time_limit_calls_nothing_more() -> None:
    called: list[str] = []

    async def call(name: str, arguments: dict[str, Any]) -> Observation:
        called.append(name)
        await asyncio.sleep(60)
        return Observation("late")

    def lookup(key: str) -> str:
        """Look something up."""
        return key

    env = ToolEnv(settings=Settings(), call=call, offered={"lookup": make_tool(lookup)})
    code = "while True:\n  try:\n    lookup(key='x')\n  except RuntimeError:\n    pass"
    seen = await call_tool(replace(PYTHON, timeout_s=1), {"code": code}, env)
    assert seen.cause == "timeout"
    await asyncio.sleep(0.3)
    assert called == ["lookup"]
