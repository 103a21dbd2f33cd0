"""find_files: which files there are, by name, kind or words."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought.sizes import Sizes
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.find_files import FIND_FILES
from forethought.tools.folders.listing import grouped
from tests.support.folders import env_of, indexed, settings_in, write


async def find(env: ToolEnv, **arguments: object) -> Observation:
    found = await FIND_FILES.run(env, **arguments)
    assert isinstance(found, Observation)
    return found


@pytest.fixture
def env(tmp_path: Path) -> ToolEnv:
    files = {f"contracts/contract-{n}.txt": f"Contract {n} with Jensen." for n in range(1000, 1150)}
    files |= {
        "2025/rent.md": "The rent is 1,240.",
        "2026/rent.md": "It is 1,300.",
        "scan.png": "\x89PNG\r\n\x1a\n",
    }
    settings = settings_in(tmp_path)
    return env_of(indexed(write(tmp_path / "in", files), settings), settings=settings)


async def test_files_are_listed_by_pattern_or_part_of_the_name(env: ToolEnv) -> None:
    assert (await find(env, pattern="rent")).text.startswith("2 files match.\n2025/rent.md (1 kB, 2")
    assert (await find(env, pattern="contract-107?.txt")).text.startswith("10 files match.")
    assert "2026/rent.md" in (await find(env, pattern="2026/*")).text
    with pytest.raises(ToolError, match="no file matches"):
        await find(env, pattern="*.pptx")


async def test_all_names_come_in_groups_and_pages(env: ToolEnv) -> None:
    first = await find(env.__class__(**{**vars(env), "sizes": Sizes(16_000)}))
    assert "contracts/contract-1000 ... 1149.txt, 150 files" in first.text
    assert "page 1 of" in first.text
    assert "1 cannot be read" in first.text
    assert first.partial
    assert first.origin == "folder:in"
    with pytest.raises(ToolError, match="no page 99"):
        await find(env, page=99)


async def test_files_are_found_by_what_they_speak_of(env: ToolEnv) -> None:
    text = (await find(env, text="rents")).text
    assert text.splitlines()[1:] == [line for line in text.splitlines()[1:] if "rent.md" in line]
    assert (
        (await find(env, pattern="contracts/*", text="contract 1077"))
        .text.splitlines()[1]
        .startswith("contracts/contract-1077.txt")
    )


def test_names_that_differ_in_one_number_are_one_line(tmp_path: Path) -> None:
    files = (
        {f"a/{n}.txt": "x" for n in range(9, 12)} | {f"b-{n:03}.txt": "x" for n in range(5)} | {"c1.txt": "x"}
    )
    settings = settings_in(tmp_path)
    env = env_of(indexed(write(tmp_path / "in", files), settings), settings=settings)
    assert env.folders is not None
    assert grouped(env.folders.entries(), 1_000) == [
        "b-000 ... 004.txt, 5 files",
        "a/9 ... 11.txt, 3 files",
        "c1.txt",
    ]
