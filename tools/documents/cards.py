"""Calendars (.ics) and address cards (.vcf): a block an entry, a line a property (RFC 5545, RFC 6350)."""

from __future__ import annotations

import quopri
import re

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.plain import decode

_PROPERTY = re.compile(r'(?:\w+\.)?([\w-]+)((?:;(?:[^":;]|"[^"]*")+)*):(.*)', re.DOTALL)
_PARAMETER = re.compile(r';((?:[^";]|"[^"]*")+)')
_ESCAPED = re.compile(r"\\(.)")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?(?!\w)")
_SILENT = {"PRODID", "VERSION", "UID", "DTSTAMP", "SEQUENCE", "CALSCALE", "REV", "TRANSP", "CREATED"}
_PICTURES = {"PHOTO", "LOGO", "KEY", "SOUND"}
_ENTRIES = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note", "VCARD": "Card", "VALARM": "Alarm",
            "VFREEBUSY": "Busy times"}  # fmt: skip


def read_cards(data: bytes) -> Document:
    """The entries of a calendar or of an address book, with their properties."""
    text, note = decode(data)
    if "QUOTED-PRINTABLE" in text.upper():
        text = re.sub(r"=\n[ \t]?", "", text)
    blocks: list[list[str]] = [[]]
    kinds: list[str] = []
    for line in re.sub(r"\n[ \t]", "", text).split("\n"):
        if not (found := _PROPERTY.match(line)):
            continue
        name, parameters, value = found[1].upper(), _PARAMETER.findall(found[2]), found[3]
        if name == "BEGIN":
            kinds.append(value.upper())
            blocks.append([f"{_ENTRIES[kinds[-1]]}:"] if kinds[-1] in _ENTRIES else [])
        elif name == "END":
            del kinds[-1:]
        elif name not in _SILENT and kinds[-1:] and kinds[-1] in (*_ENTRIES, "VCALENDAR"):
            blocks[-1].append(_line(name, parameters, value))
    return Document((Section("\n\n".join("\n".join(block) for block in blocks if block)),), note=note)


def _line(name: str, parameters: list[str], value: str) -> str:
    """A property: its name, its parameters but for those on its form, and its value."""
    about = ""
    for parameter in parameters:
        key, is_named, said = parameter.partition("=")
        if "QUOTED-PRINTABLE" in parameter.upper():
            value = decode(quopri.decodestring(value.encode("latin-1", "replace")))[0]
        elif is_named and key.upper() == "TZID":
            value += f" ({said})"
        elif key.upper() not in ("CHARSET", "ENCODING", "VALUE"):
            said = said.strip('"')
            about += f", {key.lower()} {said}" if is_named else f", {key.lower()}"
    value = _MOMENT.sub(_day, value) if _MOMENT.match(value) else value
    value = _ESCAPED.sub(lambda found: " / " if found[1] in "nN" else found[1], value)
    return f"- {name}{about}: {'(not shown)' if name in _PICTURES else ' '.join(value.split())}"


def _day(found: re.Match[str]) -> str:
    year, month, day, hour, minute, utc = found.groups()
    return f"{year}-{month}-{day}" + (f" {hour}:{minute}{' UTC' if utc else ''}" if hour else "")
