"""The first look: what of which file is shown, within which bounds, and how it goes into a prompt."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.comments import Comment
from PIL import Image

from forethought.nodes.support import first_look
from forethought.nodes.support.first_look import LEAST_BYTES, look_at
from forethought.nodes.support.signs import SCANNED_CHARACTERS
from forethought.settings import Settings
from forethought.sizes import extent
from forethought.state.agent import FileRef
from forethought.state.look import Look
from forethought.tools.documents.document import Document, Section
from forethought.tools.files import FileStore


class Files:
    """A store, and the references of what is put into it."""

    def __init__(self, folder: Path) -> None:
        self.store = FileStore(folder)

    def refs(self, **contents: bytes | str) -> list[FileRef]:
        """Files by name, whose dot is written as `__`."""
        return [
            FileRef(
                name=name.replace("__", "."),
                hash=self.store.put(data.encode() if isinstance(data, str) else data),
            )
            for name, data in contents.items()
        ]

    async def look(self, refs: list[FileRef], budget: int, task: str = "What is owed?") -> Look:
        """The look at `refs`, in parts of 12,000 characters."""
        return await look_at(refs, task, self.store, Settings(), budget, 12_000)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "blobs")


def workbook() -> bytes:
    book, data = Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Prices"
    for row in (["Item", "Price"], ["Bolt", 1], ["Nut", 2]):
        sheet.append(row)
    sheet["B3"].comment = Comment("Per hundred", "Kim")
    hidden = book.create_sheet("Old")
    hidden.append(["Item", "Price"])
    hidden.append(["Bolt", 3])
    hidden.sheet_state = "hidden"
    book.save(data)
    return data.getvalue()


async def test_small_files_are_shown_whole_as_read_file_shows_them(files: Files) -> None:
    refs = files.refs(prices__xlsx=workbook(), rules__md="# Rules\n\nDelivery is free, except to islands.")
    look = await files.look(refs, 10_000)
    book, rules = look["files"]
    assert (book["shown"], rules["shown"], look["unseen"]) == ("whole", "whole", 0)
    assert '## Sheet "Old" (2 of 2, hidden)' in book["text"]
    assert "- B3: Per hundred" in book["text"]
    assert rules == {
        "name": "rules.md",
        "shown": "whole",
        "text": "# Rules\n\nDelivery is free, except to islands. [sign: exception]",
        "signs": 1,
    }
    assert "Per hundred [sign: comment]" in book["text"]
    assert "hidden) [sign: hidden]" in book["text"]
    assert book["signs"] == 2


async def test_a_line_that_was_not_read_makes_it_a_part(files: Files) -> None:
    line = "Delivery is free to all of the towns in this list of towns.\n"
    times = SCANNED_CHARACTERS // len(line) + 2
    (look,) = (await files.look(files.refs(long__txt=line * times), 1_000_000))["files"]
    assert (look["shown"], len(look["text"]) < len(line) * times) == ("part", True)


async def test_of_a_long_file_marked_lines_are_shown_first(files: Files) -> None:
    text = "The lift is in order.\n" * 900 + "\nPets are free, except for dogs.\n\n" + "Paint is dry.\n" * 900
    (look,) = (await files.look(files.refs(long__txt=text), 4_000, "Is the lift in order?"))["files"]
    assert look["shown"] == "part"
    assert "except for dogs. [sign: exception]" in look["text"]


async def test_files_that_differ_by_a_version_name_each_other(files: Files) -> None:
    looks = (await files.look(files.refs(fees_v1__txt="Tea 3", fees_v2__txt="Tea 4"), 5_000))["files"]
    assert looks[0]["text"] == "Other versions of this file: fees_v2.txt [sign: version]\n\nTea 3"
    assert [look["signs"] for look in looks] == [1, 1]


async def test_of_a_long_file_an_outline_and_what_bears_on_the_task(files: Files) -> None:
    chapters = [f"# Chapter {n}\n\n" + "The lift is in order.\n" * 200 for n in range(1, 11)]
    chapters[6] += "The crane was broken for nine days."
    refs = files.refs(short__txt="Tea costs EUR 3.", long__md="\n\n".join(chapters))
    look = await files.look(refs, 6_000, "For how long was the crane broken?")
    short, long = look["files"]
    assert (short["shown"], long["shown"]) == ("whole", "part")
    assert long["text"].startswith(
        "Parts:\n- part 1: Chapter 1\n- part 1: Chapter 2\n- part 1: Chapter 3\n- part 2: Ch"
    )
    assert "The crane was broken for nine days." in long["text"]
    assert long["text"].endswith("are not shown. read_file shows all of it, in 5 parts.]")
    assert 1_200 < extent(long["text"]) <= 2_000, "a third of the budget"


async def test_what_is_no_text_is_one_line(files: Files, tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    refs = files.refs(scan__png=picture.getvalue(), broken__docx=b"PK\x03\x04 no archive", empty__csv=b"")
    refs.append(FileRef(name="gone.txt", hash="0" * 64))
    look = await files.look(refs, 5_000)
    assert {item["shown"] for item in look["files"]} == {"nothing"}
    again = "Ask the user for the file again."
    assert [item["text"] for item in look["files"]] == [
        "scan.png is a picture. Use inspect_image for it, if you have it.",
        f"broken.docx is damaged: its archive cannot be opened (File is not a zip file). {again}",
        f"empty.csv is empty (0 bytes). {again}",
        f"gone.txt: the file's content is not stored here; send the file again. {again}",
    ]
    assert {item["signs"] for item in look["files"]} == {0}


async def test_files_that_have_no_room_are_counted(files: Files) -> None:
    refs = files.refs(**{f"f{n}__txt": f"Text {n}." for n in range(9)})
    look = await files.look(refs, 3 * LEAST_BYTES)
    assert [item["name"] for item in look["files"]] == ["f0.txt", "f1.txt", "f2.txt"]
    assert look["unseen"] == 6
    assert await files.look([], 5_000, "Hello") == Look(files=[], unseen=0)


async def test_a_slow_file_does_not_hold_up_the_others(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asyncio.Event()

    async def load(store: FileStore, content_hash: str, name: str, limits: Settings) -> Document:
        if name == "slow.txt":
            await seen.wait()
        return Document((Section(name),))

    monkeypatch.setattr(first_look, "load_document", load)
    monkeypatch.setattr(first_look, "LONGEST_S", 1.0)
    look = await files.look(files.refs(slow__txt="a", quick__txt="b"), 5_000)
    seen.set()
    assert [item["text"] for item in look["files"]] == [
        "slow.txt takes long to read; read_file may have it.",
        "quick.txt",
    ]


@pytest.mark.parametrize("place", ["load_document", "outline", "marked"])
async def test_a_file_on_which_the_program_fails_is_left_to_read_file(
    files: Files, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    sound, broken = getattr(first_look, place), iter([True])

    def fail_once(*arguments: object) -> object:
        if next(broken, False):
            raise RecursionError("private words")
        return sound(*arguments)

    monkeypatch.setattr(first_look, place, fail_once)
    monkeypatch.setattr(first_look, "_AT_ONCE", 1)
    look = await files.look(files.refs(odd__txt="a", sound__txt="b"), 5_000)
    assert [(item["shown"], item["text"]) for item in look["files"]] == [
        ("nothing", "odd.txt cannot be shown here; read_file may have it."),
        ("whole", "b"),
    ]
    (record,) = caplog.records
    assert (record.levelname, "RecursionError" in record.message) == ("WARNING", True)
    assert "private" not in caplog.text


async def test_a_look_is_plain_json_and_the_same_again(files: Files) -> None:
    document, data = docx.Document(), io.BytesIO()
    document.add_heading("Terms", 1)
    document.add_paragraph("Prices are net. " * 400)
    document.save(data)
    refs = files.refs(terms__docx=data.getvalue())
    look = await files.look(refs, 2_000)
    assert json.loads(json.dumps(look)) == look == await files.look(refs, 2_000)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    texts=st.lists(st.text(alphabet=st.sampled_from('#|- \nab1."é'), max_size=3_000), max_size=5),
    unit=st.sampled_from(["", "page", "sheet"]),
    budget=st.integers(0, 6_000),
)
async def test_any_files_fit_the_budget(
    texts: list[str], unit: str, budget: int, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def load(store: FileStore, content_hash: str, name: str, limits: Settings) -> Document:
        text = texts[int(name)] * 5
        return Document(
            (Section(text, "1", "## Page 1 of 2"), Section(text, "2", "## Page 2 of 2")), unit, "A note."
        )

    monkeypatch.setattr(first_look, "load_document", load)
    refs = [FileRef(name=str(n), hash="0" * 64) for n in range(len(texts))]
    look = await files.look(refs, budget)
    assert sum(extent(item["text"]) for item in look["files"]) <= budget + 600 * len(look["files"])
    assert len(look["files"]) + look["unseen"] == len(texts)
    assert look == await files.look(refs, budget)
