"""Files in given files: taken in with the file that holds them, read like any other."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from forethought.settings import Settings
from forethought.state.agent import FileRef
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.files import FileStore, take_in, take_in_bytes
from forethought.tools.members import with_members
from forethought.tools.python import PYTHON
from forethought.tools.read_file import READ_FILE


def mail(rate: int) -> bytes:
    made = EmailMessage()
    made["Subject"] = "Rates"
    made.set_content("See the table.")
    made.add_attachment(f"city;rate\nBonn;{rate}", subtype="csv", filename="q3.csv")
    return made.as_bytes()


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path)


def taken(store: FileStore, **contents: bytes) -> list[FileRef]:
    settings = Settings()
    files = [
        take_in_bytes(f"{name}.eml", data, store=store, settings=settings) for name, data in contents.items()
    ]
    return with_members(files, store, settings)


async def test_tools_read_a_member_by_its_name(store: FileStore) -> None:
    files = taken(store, a=mail(80), b=b"no message\0")
    assert [(file["name"], file["type"]) for file in files] == [
        ("a.eml", "message/rfc822"),
        ("b.eml", "message/rfc822"),
        ("a.eml/q3.csv", "text/csv"),
    ]
    env = ToolEnv(Settings(), files={file["name"]: file["hash"] for file in files}, store=store)
    seen = await call_tool(READ_FILE, {"path": "a.eml/q3.csv"}, env)
    assert "| Bonn | 80 |" in seen.text
    seen = await call_tool(PYTHON, {"code": "print(tables['a.eml/q3.csv'][1])"}, env)
    assert seen.text.startswith("['Bonn', '80']")


def test_members_go_with_the_file_that_holds_them(store: FileStore) -> None:
    first = taken(store, a=mail(80))
    again = [take_in(file, store=store, settings=Settings()) for file in first]
    assert with_members(again, store, Settings()) == first
    second = taken(store, a=mail(90))
    assert with_members([second[0], first[1]], store, Settings()) == second
