from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment
from pptx import Presentation

from forethought.prompts.replies import DocumentAnswer
from forethought.settings import Settings
from forethought.sizes import MOST_INSPECTED
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.files import FileStore
from forethought.tools.given_files import find_name
from forethought.tools.read_file import READ_FILE


@pytest.fixture
def env(tmp_path: Path, settings: Callable[..., Settings]) -> ToolEnv:
    store = FileStore(tmp_path / "blobs")
    book = Workbook()
    for title in ("June", "May"):
        sheet = book.create_sheet(title)
        sheet.append(["Item", "Price"])
        for number in range(600):
            sheet.append([f"{title} item {number:04}", number + 0.5])
    del book["Sheet"]
    book.save(tmp_path / "prices.xlsx")
    contents = {
        "prices.xlsx": (tmp_path / "prices.xlsx").read_bytes(),
        "Notes.txt": b"Tea costs EUR 3.",
        "sub/rules.md": b"# Rules",
        "long.txt": b"\n\n".join(b"Paragraph %d. " % n + b"word " * 100 for n in range(300)),
        "empty.csv": b"",
    }
    return ToolEnv(settings(), files={name: store.put(data) for name, data in contents.items()}, store=store)


async def read(env: ToolEnv, **arguments: Any) -> Observation:
    observation = await READ_FILE.run(env, **READ_FILE.arguments(**arguments).model_dump())
    assert isinstance(observation, Observation)
    return observation


class Inspector:
    """A model of a test that answers questions about a text."""

    def __init__(self, answer: DocumentAnswer) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, str]] = []

    async def __call__(self, question: str, text: str, name: str) -> DocumentAnswer:
        self.asked.append((question, text, name))
        return self.answer


async def test_a_short_file_is_shown_whole(env: ToolEnv) -> None:
    observation = await read(env, path="Notes.txt")
    assert not observation.partial
    assert observation == Observation("Notes.txt, complete.\n\nTea costs EUR 3.", origin="file:Notes.txt")


async def test_a_long_workbook_comes_in_parts_that_together_show_every_row_once(env: ToolEnv) -> None:
    first = await read(env, path="prices.xlsx")
    assert first.text.startswith(
        "prices.xlsx, part 1 of 3 (sheet: June). Not shown: parts 2-3; ask for part=2.\n\n"
        '## Sheet "June" (1 of 2)\n\nCells A1:B601:\n\n'
        "| Item | Price |\n| --- | --- |\n| June item 0000 | 0.5 |"
    )
    second = await read(env, path="prices.xlsx", part=2)
    assert second.text.startswith(
        "prices.xlsx, part 2 of 3 (sheets: June, May). Not shown: parts 1, 3; ask for part=3.\n\n"
        '## Sheet "June" (1 of 2) (continued)\n\n| Item | Price |\n| --- | --- |\n| June item '
    )
    third = await read(env, path="prices.xlsx", part=3)
    assert "part 3 of 3 (sheet: May). Not shown: parts 1-2; ask for part=1.\n\n" in third.text
    rows = [line for text in (first, second, third) for line in text.text.split("\n") if " item " in line]
    assert (first.partial, second.partial, third.partial) == (True, True, True)
    assert rows == [f"| {title} item {n:04} | {n}.5 |" for title in ("June", "May") for n in range(600)]
    assert await read(env, path="prices.xlsx", part=2) == second


@pytest.mark.parametrize("part", [0, -1, 4])
async def test_a_part_that_does_not_exist_says_which_do(env: ToolEnv, part: int) -> None:
    with pytest.raises(ToolError, match=f"has parts 1 to 3; there is no part {part}") as raised:
        await read(env, path="prices.xlsx", part=part)
    assert raised.value.cause == "arguments"
    with pytest.raises(ToolError, match="has only one part"):
        await read(env, path="Notes.txt", part=2)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("notes.TXT", "Notes.txt"),
        ("/data/in/Notes.txt", "Notes.txt"),
        ("sub/rules.md", "sub/rules.md"),
        ("C:\\in\\notes.txt", "Notes.txt"),
    ],
)
def test_a_name_is_found_whatever_its_case_and_folder(env: ToolEnv, path: str, name: str) -> None:
    assert find_name(path, env.files) == name


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.txt", ""])
async def test_only_given_files_can_be_read(env: ToolEnv, path: str) -> None:
    with pytest.raises(ToolError) as raised:
        await read(env, path=path)
    assert raised.value.cause == "not_found"
    assert raised.value.message.endswith(
        "given files: Notes.txt, empty.csv, long.txt, prices.xlsx, sub/rules.md"
    )


def test_names_that_differ_in_case_only_need_the_exact_one() -> None:
    files = {"a.txt": "1", "A.txt": "2"}
    assert find_name("A.txt", files) == "A.txt"
    with pytest.raises(ToolError, match=r"A\.txt, a\.txt"):
        find_name("x/a.TXT", files)


async def test_a_file_that_cannot_be_read_says_why(env: ToolEnv) -> None:
    with pytest.raises(ToolError, match=r"^empty\.csv is empty") as raised:
        await read(env, path="empty.csv")
    assert raised.value.cause == "empty"


async def test_a_question_is_answered_from_the_text(env: ToolEnv) -> None:
    inspector = Inspector(DocumentAnswer(brief="EUR 3.", details="Tea costs EUR 3.", context=""))
    observation = await read(
        dataclasses.replace(env, inspect=inspector), path="Notes.txt", question="What is tea?"
    )
    assert inspector.asked == [("What is tea?", "Tea costs EUR 3.", "Notes.txt")]
    assert observation.text == "Notes.txt, complete.\nBrief: EUR 3.\nDetails: Tea costs EUR 3."
    assert (observation.origin, observation.partial) == ("file:Notes.txt", False)


async def test_a_question_about_a_long_document_says_what_was_left_out(env: ToolEnv) -> None:
    inspector = Inspector(DocumentAnswer(brief="It does not say.", details="", context="Searched all."))
    asking = dataclasses.replace(env, inspect=inspector)
    observation = await read(asking, path="long.txt", question="Why?")
    _, text, _ = inspector.asked[0]
    assert 0.75 * MOST_INSPECTED < len(text) <= MOST_INSPECTED + 100
    assert text.startswith("Paragraph 0.")
    first, brief, context = observation.text.split("\n")
    assert first.startswith("long.txt, parts 1-")
    assert "Not considered: parts " in first
    assert (brief, context) == ("Brief: It does not say.", "Context: Searched all.")
    following = int(first.rsplit("part=", 1)[1].rstrip("."))
    await read(asking, path="long.txt", question="Why?", part=following)
    last = int(text.rsplit("Paragraph ", 1)[1].split(".")[0])
    assert inspector.asked[1][1].startswith(f"Paragraph {last + 1}."), "it begins where the first one ended"
    assert observation.partial


def hidden_and_commented() -> bytes:
    book, file = Workbook(), io.BytesIO()
    sheet = book.active
    for number in range(3000):
        sheet.append([f"item {number}", number])
    old = book.create_sheet("Old")
    old.append(["tea", 3])
    old["A1"].comment = Comment("checked", "Ana")
    old.sheet_state = "hidden"
    book.save(file)
    return file.getvalue()


def noted_slides() -> bytes:
    made, file = Presentation(), io.BytesIO()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Prices"
    slide.notes_slide.notes_text_frame.text = "Without tax."
    made.save(file)
    return file.getvalue()


async def test_the_first_line_says_what_is_easily_missed_and_in_which_part(env: ToolEnv) -> None:
    assert env.store is not None
    files = {"book.xlsx": env.store.put(hidden_and_commented()), "talk.pptx": env.store.put(noted_slides())}
    env = dataclasses.replace(env, files={**env.files, **files})
    first = (await read(env, path="book.xlsx")).text.split("\n")[0]
    parts = int(re.findall(r"part 1 of (\d+)", first)[0])
    assert parts > 1
    assert first.endswith(f"Also in it: hidden sheets (part {parts}), comments (part {parts}).")
    assert (await read(env, path="talk.pptx")).text.startswith(
        "talk.pptx, complete (slide 1 of 1). Also in it: speaker notes.\n\n"
    )
    assert "Also in it" not in (await read(env, path="Notes.txt")).text


@pytest.mark.parametrize("name", ["app.log", "conf.yaml", "tool.py", "notes", "data.jsonl", "q.sql"])
async def test_any_plain_text_is_read(env: ToolEnv, name: str) -> None:
    assert env.store is not None
    env = dataclasses.replace(env, files={name: env.store.put(b"a: 1\n")})
    assert (await read(env, path=name)).text == f"{name}, complete.\n\na: 1"
