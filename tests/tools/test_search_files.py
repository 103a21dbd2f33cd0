"""search_files: ranked passages of all files, or every match of a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought.tools import search_files as searching
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.call import call_tool
from forethought.tools.registry import LONG_FILE, offered, toolbox
from forethought.tools.search_files import SEARCH_FILES
from tests.support.folders import env_of, indexed, settings_in, write


async def search(env: ToolEnv, query: str, **arguments: object) -> Observation:
    found = await SEARCH_FILES.run(env, query=query, **arguments)
    assert isinstance(found, Observation)
    return found


@pytest.fixture
def env(tmp_path: Path) -> ToolEnv:
    files = {f"complaints/{n:03}.txt": f"Parcel {n} came late.\nThe courier was rude." for n in range(100)}
    files["lease.md"] = (
        "# Lease\n\nParties: A and B.\n\n## Rent\n\nThe rent is EUR 1,240.\n\n## Notice\n\nThree months."
    )
    files["broken.docx"] = b"PK\x03\x04"  # type: ignore[assignment]
    settings = settings_in(tmp_path)
    return env_of(indexed(write(tmp_path / "in", files), settings), settings=settings)


async def test_passages_come_with_file_place_and_heading(env: ToolEnv) -> None:
    found = await search(env, "What are the rents?")
    assert found.text.startswith("Searched 101 of 102 files, 1 unreadable. Passages 1 to 1, best first.")
    assert "## lease.md, line 5 [Lease > Rent]" in found.text
    assert "EUR 1,240" in found.text
    assert found.origin == "file:lease.md"
    assert not found.partial


async def test_neighbours_are_shown_as_context(env: ToolEnv) -> None:
    text = (await search(env, "rent", context=1)).text
    assert "Parties" in text
    assert "Three months" in text


async def test_a_page_tells_that_there_are_more_and_names_few_origins(env: ToolEnv) -> None:
    first = await search(env, "courier")
    assert "ask for page=2" in first.text
    assert not first.partial, "a page of the best passages is all that a plan asked for"
    assert first.origin.endswith("6 more files")
    second = await search(env, "courier", page=2)
    assert first.text.splitlines()[2] not in second.text
    with pytest.raises(ToolError, match="no page 50"):
        await search(env, "courier", page=50)


async def test_a_pattern_gives_every_match_with_counts(env: ToolEnv) -> None:
    found = await search(env, r"came\s+late", regex=True)
    assert "100 matching lines in 100 files" in found.text
    assert "ask for page=2" in found.text
    assert "complaints/000.txt: 1" in found.text
    assert "1: Parcel 0 came late." in found.text
    rest = await search(env, r"came\s+late", regex=True, page=2)
    assert "Matches 61 to 100" in rest.text
    assert "1: Parcel 99 came late." in rest.text


async def test_only_the_named_files_are_searched(env: ToolEnv) -> None:
    found = await search(env, "late", files="complaints/00*", regex=True, context=1)
    assert "Searched 10 of 102 files, 0 unreadable. 10 matching lines" in found.text
    assert "2: The courier was rude." in found.text
    assert (await search(env, "courier", files="complaints/042.txt")).origin == "file:complaints/042.txt"
    with pytest.raises(ToolError, match="no file matches"):
        await search(env, "late", files="*.pptx")


@pytest.mark.parametrize(
    ("query", "said"), [("(", "no regular expression"), ("zebra", "no line matches"), (" ", "empty")]
)
async def test_what_finds_nothing_says_so(env: ToolEnv, query: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await search(env, query, regex=True)


async def test_a_pattern_that_explodes_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forethought.tools.search_files._REGEX_S", 1.0)
    settings = settings_in(tmp_path)
    env = env_of(settings=settings, **{"long.txt": "a" * 5_000 + "!"})
    with pytest.raises(ToolError, match="too long"):
        await search(env, "(a|aa)+$(?<!b)c?x", regex=True)


async def test_a_long_file_is_searched_without_a_folder(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    lines = [f"10:00:{n % 60:02} INFO request {n} handled" for n in range(20_000)]
    lines[15_000] = "10:00:00 ERROR payment 8812 refused"
    env = env_of(settings=settings, **{"app.log": "\n".join(lines)})
    found = await call_tool(SEARCH_FILES, {"query": "error in a payment"}, env)
    assert "payment 8812 refused" in found.text
    assert not (settings.data_dir / "folders").exists(), "the index is in memory"
    box, small = toolbox(settings), {"name": "a.txt", "hash": "0", "size": 10, "type": "text/plain"}
    assert "search_files" not in offered(box, [small])  # type: ignore[list-item]
    assert "search_files" in offered(box, [{**small, "size": LONG_FILE}])  # type: ignore[list-item]
    assert "find_files" not in offered(box, [{**small, "size": LONG_FILE}])  # type: ignore[list-item]


async def test_a_program_reads_the_files_of_a_folder_one_by_one(env: ToolEnv, tmp_path: Path) -> None:
    python = toolbox(settings_in(tmp_path))["python"]
    counted = "sum('courier' in text_of(name) for name in file_names * 15), len(file_names)"
    assert (await call_tool(python, {"code": counted}, env)).text == "(1500, 101)"
    named = await call_tool(python, {"code": "files['lease.md'][:7], list(files)"}, env)
    assert (named.text, named.origin) == ("('# Lease', ['lease.md'])", "file:lease.md")
    missing = await call_tool(python, {"code": "text_of('none.txt')"}, env)
    assert (missing.ok, "no file called none.txt" in missing.text) == (False, True)


async def test_a_page_of_matches_beyond_the_last_is_said_to_be_missing(env: ToolEnv) -> None:
    with pytest.raises(ToolError, match="no page 99"):
        await search(env, "courier", page=99, regex=True)


async def test_a_slow_pattern_ends_after_its_time(env: ToolEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_REGEX_S", 0.0)
    with pytest.raises(ToolError, match="too long"):
        await search(env, "courier", regex=True)
