"""Zip packages of XML parts, which Office files are."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence

REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = {
    "xml": "application/xml",
    "rels": "application/vnd.openxmlformats-package.relationships+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
}


class _OldName(zipfile.ZipInfo):
    """A member whose name is encoded as old programs do."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:
        return self.filename.encode("cp437"), self.flag_bits


def zipped(members: Mapping[str, bytes | str], *, old: bool = False) -> bytes:
    """A zip archive of these members, in their order and of one date."""
    member = _OldName if old else zipfile.ZipInfo
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(member(name, (2025, 3, 14, 9, 30, 0)), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def relationships(targets: Mapping[str, Sequence[str]]) -> str:
    """A part of relationships: id -> type and target."""
    links = ""
    for key, (kind, target) in targets.items():
        outside = ' TargetMode="External"' if "://" in target else ""
        uri = kind if "://" in kind else f"{REL}/{kind}"
        links += f'<Relationship Id="{key}" Type="{uri}" Target="{target}"{outside}/>'
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


def content_types(overrides: Mapping[str, str]) -> str:
    """The part that names the type of each part: name -> type without its 'application/vnd.'."""
    given = "".join(f'<Default Extension="{key}" ContentType="{kind}"/>' for key, kind in _TYPES.items())
    for name, kind in overrides.items():
        given += f'<Override PartName="/{name}" ContentType="application/vnd.{kind}"/>'
    return f'<Types xmlns="{_PACKAGE}/content-types">{given}</Types>'


def patched(data: bytes, patches: Mapping[str, list[list[str]]], parts: Mapping[str, str]) -> bytes:
    """An Office file with replacements (part -> [[pattern, text], ...]) and with parts added."""
    members: dict[str, bytes | str] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            members[name] = content = archive.read(name)
            for pattern, new in patches.get(name, ()):
                members[name], count = re.subn(pattern.encode(), new.encode(), content, count=1)
                assert count, f"{name} has no {pattern}"
    return zipped({**members, **parts})
