"""Kinds of pictures and sound by their first bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought.tools.kinds import picture_kind, sound_kind

FILES = Path(__file__).with_name("media") / "files"


@pytest.mark.parametrize("path", sorted(FILES.glob("*.*")), ids=lambda path: path.name)
def test_files_of_other_programs_are_what_their_names_say(path: Path) -> None:
    suffix, data = path.suffix[1:], path.read_bytes()
    if suffix in ("mp3", "m4a", "wav", "ogg", "flac"):
        assert (picture_kind(data), sound_kind(data)) == ("", suffix)
    elif suffix == "md":
        assert (picture_kind(data), sound_kind(data)) == ("", "")
    else:
        assert (picture_kind(data), sound_kind(data)) == (suffix, "")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"BMI,height\n21,180\n", b"ID3 is a tag", b"RIFF....AVI ", b"\xff\xfeu\x00t\x00f\x00",
        b"\x00\x00\x00\x18ftypheic", b"#EXTM3U\nhttp://example.org/a.mp3", b"PK\x03\x04",
    ],
)  # fmt: skip
def test_what_is_neither(data: bytes) -> None:
    assert (picture_kind(data), sound_kind(data)) == ("", "")


def test_an_mp3_without_a_tag() -> None:
    assert sound_kind(b"\xff\xfb\x90\x64" + b"\0" * 400) == "mp3"
