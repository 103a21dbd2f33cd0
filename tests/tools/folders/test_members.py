"""Files in files of a folder: attachments and members of archives are found, read, changed and removed."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

from forethought.tools.folders.given import Folders
from forethought.tools.folders.intake import index_folder
from tests.support.folders import env_of, settings_in, write


def mail(attached: str) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "anna@example.org", "Figures"
    message.set_content("See the attachment.")
    message.add_attachment(attached.encode(), "text", "csv", filename="prices.csv")
    return message.as_bytes()


def packed(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.txt", text)
    return buffer.getvalue()


def test_attachments_and_members_are_files_of_the_folder(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {"2025/mail.eml": mail("desk,120"), "old.zip": packed(a="a walnut chair")})
    ref, report = index_folder(root, settings)
    env = env_of(ref, settings=settings)
    assert [entry.name for entry in env.folders.entries()] == [  # type: ignore[union-attr]
        "2025/mail.eml", "2025/mail.eml/prices.csv", "old.zip", "old.zip/a.txt",
    ]  # fmt: skip
    assert sorted(report.added) == ["2025/mail.eml", "old.zip"]
    (hit, *_) = env.folders.search("walnut chair")  # type: ignore[union-attr]
    assert hit.name == "old.zip/a.txt"
    assert env.store is not None
    assert env.store.get(env.files["2025/mail.eml/prices.csv"]).strip() == b"desk,120"


def test_attachments_follow_the_mail_that_holds_them(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {"mail.eml": mail("desk,120")})
    index_folder(root, settings)
    assert index_folder(root, settings)[1].removed == []
    write(root, {"mail.eml": mail("a new price,130")})
    ref, report = index_folder(root, settings)
    assert (report.changed, report.removed) == (["mail.eml"], [])
    assert "130" in Folders([ref], settings).text("mail.eml/prices.csv")
    (root / "mail.eml").unlink()
    ref, report = index_folder(root, settings)
    assert report.removed == ["mail.eml"]
    assert Folders([ref], settings).entries() == []
