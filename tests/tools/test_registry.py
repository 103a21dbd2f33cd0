from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forethought.settings import Settings
from forethought.tools.base import ToolEnv, make_tool
from forethought.tools.call import call_tool
from forethought.tools.documents.reader import WAIT_S
from forethought.tools.registry import describe, toolbox

BUILT_IN = [
    "read_file",
    "find_files",
    "search_files",
    "read_each",
    "inspect_image",
    "inspect_audio",
    "python",
    "sql",
    "web_search",
    "visit_webpage",
    "ask_user",
]
_GOOD = '''
from os.path import join
from forethought.tools.base import tool

LIMIT = 3

@tool(effect="write", timeout_s=5)
def book(env, day: str, rooms: int = 1) -> str:
    """Book rooms.

    Args:
        day: Such as 2025-03-01.
    """
    return f"{rooms} for {day}"

async def rooms() -> str:
    """List the rooms."""
    return "A, B"

def _private(x: str) -> str:
    """Not offered."""
    return x

def helper(x):
    return x
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Write a module of tools and return its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> str:
        name = f"own_tools_{tmp_path.name}".replace("-", "_")
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


def test_built_in_tools_come_in_a_fixed_order(settings: Callable[..., Settings]) -> None:
    box = toolbox(settings(python_seconds=33, reader_seconds=300))
    assert list(box) == BUILT_IN
    assert all(tool.name == name for name, tool in box.items())
    assert box["python"].timeout_s > 333
    assert all(box[name].timeout_s > 300 + WAIT_S for name in ("read_file", "visit_webpage"))
    assert [name for name, tool in box.items() if tool.effect == "egress"] == ["visit_webpage"]


def test_some_of_the_built_in_tools_can_be_chosen(settings: Callable[..., Settings]) -> None:
    box = toolbox(settings(), builtin=["python", "read_file"])
    assert list(box) == ["read_file", "python"]
    listing = describe(box)
    assert "with keyword arguments: read_file. Each" in listing
    for other in ("web_search", "inspect_image", "inspect_audio"):
        assert other not in listing
    assert toolbox(settings(), builtin=()) == {}
    with pytest.raises(ValueError, match="no built-in tool teleport: choose from read_file, "):
        toolbox(settings(), builtin=["teleport"])
    with pytest.raises(ValueError, match=r"tools module no_such\.module not found"):
        toolbox(settings(tools="no_such.module"))
    assert describe({}) == "There are none: work from what is given."


async def test_a_module_adds_its_functions(
    settings: Callable[..., Settings], module: Callable[[str], str]
) -> None:
    box = toolbox(settings(tools=module(_GOOD)))
    assert list(box) == [*BUILT_IN, "book", "rooms"]
    assert (box["book"].effect, box["book"].timeout_s) == ("write", 5)
    seen = await call_tool(box["book"], {"day": "Monday", "rooms": "2"}, ToolEnv(settings=settings()))
    assert seen.text == "2 for Monday"


def test_a_module_with_a_list_of_tools_adds_only_those(
    settings: Callable[..., Settings], module: Callable[[str], str]
) -> None:
    name = module(
        _GOOD + "\nfrom forethought.tools.base import make_tool\nTOOLS = [make_tool(rooms, timeout_s=3)]"
    )
    box = toolbox(settings(tools=name))
    assert list(box) == [*BUILT_IN, "rooms"]
    assert box["rooms"].timeout_s == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "defines no tools"),
        ("TOOLS = []", "defines no tools"),
        ("TOOLS = [3]", "'3' is neither a function nor a tool: remove it"),
        ("import nowhere_to_be_found", "needs nowhere_to_be_found, which is not installed"),
        ("1 / 0", "cannot be loaded: ZeroDivisionError"),
        ("def f(:", "cannot be loaded: SyntaxError"),
        (
            "def f(x) -> str:\n  '''Do.'''\n  return x",
            "f cannot be used as a tool: tool f: argument x has no type",
        ),
        ("def f(x: str) -> str:\n    return x\nTOOLS = [f]", "has no docstring"),
        (
            "def python(code: str) -> str:\n  '''Run.'''\n  return code",
            "two tools have the name python: rename one",
        ),
    ],
)
def test_an_unusable_module_is_named_with_its_fault_in_one_line(
    settings: Callable[..., Settings], module: Callable[[str], str], text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        toolbox(settings(tools=module(text)))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_extra_functions_and_tools(settings: Callable[..., Settings]) -> None:
    def greet(name: str) -> str:
        """Greet somebody."""
        return f"hello {name}"

    assert list(toolbox(settings(), [greet])) == [*BUILT_IN, "greet"]
    assert list(toolbox(settings(), [make_tool(greet)])) == [*BUILT_IN, "greet"]
    with pytest.raises(ValueError, match="two tools have the name greet"):
        toolbox(settings(), [greet, make_tool(greet)])


def test_the_listing_names_arguments_types_and_meanings(
    settings: Callable[..., Settings], module: Callable[[str], str]
) -> None:
    box = toolbox(settings(tools=module(_GOOD)))
    listing = describe({"rooms": box["rooms"], "book": box["book"]})
    assert listing == (
        "rooms()\n  List the rooms.\n\n"
        "book(day: string, rooms: integer = 1)\n  Book rooms.\n  - day: Such as 2025-03-01."
    )
    assert "python(code: string)" in describe(box)
    assert "with keyword arguments: read_file, find_files, search_files, read_each," in describe(box)
    assert "part: integer or null = null" in describe(box)
    assert "choices: array of string or null = null" in describe(box)
