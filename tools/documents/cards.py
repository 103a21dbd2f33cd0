"""Calendars (.ics) and address cards (.vcf): a block an entry, a line a property (RFC 5545, RFC 6350)."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from datetime import datetime

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.plain import decode

_LINE = re.compile(r'((?:[^":]|"[^"]*")+):(.*)', re.DOTALL)
_PART = re.compile(r';((?:[^";]|"[^"]*")+)')
_ESCAPED = re.compile(r"\\([nN,;\\])")
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_SILENT = {"PRODID", "VERSION", "UID", "DTSTAMP", "SEQUENCE", "CALSCALE", "REV", "TRANSP", "CREATED"}
_PICTURES = ("PHOTO", "LOGO", "KEY", "SOUND")
_ENTRIES = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note", "VCARD": "Card", "VALARM": "Alarm",
            "VFREEBUSY": "Busy times", "VTIMEZONE": "", "STANDARD": "", "DAYLIGHT": ""}  # fmt: skip


def read_cards(data: bytes) -> Document:
    """The entries of a calendar or of an address book, and what each says."""
    text, note = decode(data)
    blocks: list[list[str]] = [[]]
    open_entries: list[str] = []
    for name, about, value in _properties(text):
        if name == "BEGIN":
            open_entries.append(value.upper())
            if title := _ENTRIES.get(value.upper(), ""):
                blocks.append([f"{title}:"])
        elif name == "END":
            del open_entries[-1:]
        elif name not in _SILENT and not (open_entries and _ENTRIES.get(open_entries[-1]) == ""):
            blocks[-1].append(_shown(name, about, value))
    return Document((Section("\n\n".join("\n".join(block) for block in blocks if block)),), note=note)


def _properties(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Name, parameters and value of each property, folded lines joined."""
    if "QUOTED-PRINTABLE" in text.upper():
        text = re.sub(r"=\n[ \t]?", "", text)
    for line in re.sub(r"\n[ \t]", "", text).split("\n"):
        if not (found := _LINE.match(line)):
            continue
        head, value = found.groups()
        name = head.partition(";")[0].rpartition(".")[2].upper()
        about = {}
        for part in _PART.findall(head):
            key, _, said = part.partition("=")
            about[key.upper() if said else "TYPE"] = (said or part).strip('"')
        encoded = "QUOTED-PRINTABLE" in (about.pop("ENCODING", "").upper(), about.get("TYPE", "").upper())
        if encoded:
            raw = quopri.decodestring(value.encode("latin-1", "replace"))
            value = decode(raw, about.pop("CHARSET", None))[0]
        yield name, about, value


def _shown(name: str, about: dict[str, str], value: str) -> str:
    if name in _PICTURES:
        return f"- {name}: (not shown)"
    about.pop("CHARSET", None)
    zone = f" ({about.pop('TZID')})" if "TZID" in about else ""
    if _DATE.match(value):
        value = ", ".join(map(_moment, value.split(","))) + zone
        about.pop("VALUE", None)
    value = " ".join(
        _ESCAPED.sub(lambda found: {"n": " / ", "N": " / "}.get(found[1], found[1]), value).split()
    )
    said = "".join(f", {key.lower()} {part}" for key, part in about.items())
    return f"- {name}{said}: {value}"


def _moment(text: str) -> str:
    if not (found := _DATE.fullmatch(text)):
        return text
    year, month, day, hour, minute, _, utc = found.groups()
    shown = f"{year}-{month}-{day}"
    weekday = f"{datetime(int(year), int(month), int(day)):%a}" if int(year) else ""
    return f"{weekday} {shown}" + (f" {hour}:{minute}{' UTC' if utc else ''}" if hour else "")
