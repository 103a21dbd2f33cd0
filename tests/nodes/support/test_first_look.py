"""The first look: what of which file is shown, within which bounds, and how it goes into a prompt."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.comments import Comment
from PIL import Image

from forethought.nodes.support import first_look
from forethought.nodes.support.first_look import LEAST_CHARACTERS, fair_shares, look_at, look_key, look_values
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
    look = await look_at(refs, files.store, 10_000)
    book, rules = look["files"]
    assert (book["shown"], rules["shown"], look["unseen"]) == ("whole", "whole", 0)
    assert '## Sheet "Old" (2 of 2, hidden)' in book["text"]
    assert "- B3: Per hundred" in book["text"]
    assert rules == {
        "name": "rules.md",
        "shown": "whole",
        "text": "# Rules\n\nDelivery is free, except to islands.",
        "origin": "file:rules.md",
    }
    assert [(sign["kind"], sign["place"], sign["origin"]) for sign in look["signs"]] == [
        ("comment", "prices.xlsx, sheet Prices", "file:prices.xlsx"),
        ("hidden", "prices.xlsx, sheet Old", "file:prices.xlsx"),
        ("exception", "rules.md, line 3", "file:rules.md"),
    ]


async def test_a_long_file_has_an_outline_its_beginning_and_how_to_go_on(files: Files) -> None:
    chapters = "\n\n".join(f"# Chapter {n}\n\n{'word ' * 900}" for n in range(1, 11))
    refs = files.refs(short__txt="Tea costs EUR 3.", long__md=chapters)
    look = await look_at(refs, files.store, 6_000)
    short, long = look["files"]
    assert short["shown"] == "whole"
    assert long["shown"] == "part"
    lead, contents, *head, ending = long["text"].split("\n\n")
    assert lead == f"{len(chapters)} characters, for read_file in 5 parts."
    assert contents.startswith(
        "- part 1: Chapter 1\n- part 1: Chapter 2\n- part 1: Chapter 3\n- part 2: Chapter 4"
    )
    assert head[0] == "# Chapter 1"
    assert ending == "[Not shown to the end. To go on: read_file, part=1]"
    assert 4_500 < len(long["text"]) <= 6_000 - len(short["text"])


async def test_the_beginning_may_reach_over_parts(files: Files) -> None:
    text = "\n\n".join(f"Paragraph {n}. {'word ' * 90}" for n in range(100))
    look = await look_at(files.refs(long__txt=text), files.store, 20_000)
    assert look["files"][0]["text"].endswith("[Not shown to the end. To go on: read_file, part=2]")


async def test_what_is_no_text_is_one_line(files: Files, tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "PNG")
    refs = files.refs(scan__png=picture.getvalue(), broken__docx=b"PK\x03\x04 no archive", empty__csv=b"")
    refs.append(FileRef(name="gone.txt", hash="0" * 64))
    look = await look_at(refs, files.store, 5_000)
    assert {item["shown"] for item in look["files"]} == {"nothing"}
    again = "Ask the user for the file again."
    assert [item["text"] for item in look["files"]] == [
        "scan.png is a picture. Use inspect_image for it.",
        f"broken.docx is damaged: its archive cannot be opened (File is not a zip file). {again}",
        f"empty.csv is empty (0 bytes). {again}",
        f"gone.txt: the file's content is not stored here (any more); give the file again. {again}",
    ]
    assert look["signs"] == []


async def test_files_that_have_no_room_are_counted(files: Files) -> None:
    refs = files.refs(**{f"f{n}__txt": f"Text {n}." for n in range(9)})
    look = await look_at(refs, files.store, 3 * LEAST_CHARACTERS)
    assert [item["name"] for item in look["files"]] == ["f0.txt", "f1.txt", "f2.txt"]
    assert look["unseen"] == 6
    assert await look_at([], files.store, 5_000) == Look(
        key=look_key([], 5_000), files=[], unseen=0, signs=[]
    )


async def test_a_slow_file_does_not_hold_up_the_others(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(store: FileStore, content_hash: str, name: str) -> Document:
        time.sleep(0.6 if name == "slow.txt" else 0)
        return Document((Section(name),))

    monkeypatch.setattr(first_look, "load_document", load)
    look = await look_at(files.refs(slow__txt="a", quick__txt="b"), files.store, 5_000, seconds=0.2)
    assert [item["text"] for item in look["files"]] == [
        "slow.txt takes long to read; read_file may have it",
        "quick.txt",
    ]


async def test_a_look_is_plain_json_and_the_same_again(files: Files) -> None:
    document, data = docx.Document(), io.BytesIO()
    document.add_heading("Terms", 1)
    document.add_paragraph("Prices are net. " * 400)
    document.save(data)
    refs = files.refs(terms__docx=data.getvalue())
    look = await look_at(refs, files.store, 2_000)
    assert json.loads(json.dumps(look)) == look == await look_at(refs, files.store, 2_000)


def test_the_key_tells_other_files_and_another_budget_apart() -> None:
    one, other = FileRef(name="a.txt", hash="1" * 64), FileRef(name="a.txt", hash="2" * 64)
    keys = [
        look_key(refs, budget) for refs, budget in (([one], 5), ([other], 5), ([one], 6), ([one, other], 5))
    ]
    assert len(set(keys)) == 4
    assert look_key([FileRef(name="a.txt", hash="1" * 64, size=3)], 5) == keys[0]


async def test_signs_are_numbered_through_the_task_and_the_files(files: Files) -> None:
    rules = "".join(f"Article {n} excludes the north.\n\n" for n in range(30))
    look = await look_at(files.refs(rules__txt=rules), files.store, 5_000)
    values = look_values(look, "What is owed without tax?")
    assert values["files"] == look["files"]
    lines = values["signs"].split("\n")
    assert lines[0] == 'S1 condition, task: "What is owed without tax"'
    assert lines[1] == 'S2 exception, rules.txt, line 1: "Article 0 excludes the north."'
    assert lines[-1].endswith('"Article 5 excludes the north." (and 24 more like it)')
    assert look_values(await look_at([], files.store, 5_000), "Hello") == {
        "files": [],
        "unseen": 0,
        "signs": "",
    }


@given(st.lists(st.integers(0, 5_000), max_size=20), st.integers(0, 30_000))
def test_shares_are_fair(lengths: list[int], budget: int) -> None:
    shares = fair_shares(lengths, budget)
    assert sum(shares) <= budget
    cut = [share for share, length in zip(shares, lengths, strict=True) if share < length]
    assert max(cut, default=0) - min(cut, default=0) <= 1
    assert all(share <= length for share, length in zip(shares, lengths, strict=True))
    assert not cut or max(shares) <= max(cut) + 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    texts=st.lists(st.text(alphabet=st.sampled_from('#|- \nab1."é'), max_size=3_000), max_size=5),
    unit=st.sampled_from(["", "page", "sheet"]),
    budget=st.integers(0, 6_000),
)
async def test_any_files_fit_the_budget(
    texts: list[str], unit: str, budget: int, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(store: FileStore, content_hash: str, name: str) -> Document:
        text = texts[int(name)] * 5
        return Document(
            (Section(text, "1", "## Page 1 of 2"), Section(text, "2", "## Page 2 of 2")), unit, "A note."
        )

    monkeypatch.setattr(first_look, "load_document", load)
    refs = [FileRef(name=str(n), hash="0" * 64) for n in range(len(texts))]
    look = await look_at(refs, files.store, budget)
    assert sum(len(item["text"]) for item in look["files"]) <= budget
    assert len(look["files"]) + look["unseen"] == len(texts)
    assert look == await look_at(refs, files.store, budget)
