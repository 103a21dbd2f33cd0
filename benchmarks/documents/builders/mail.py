"""Messages (.eml, .mbox, Outlook's .msg) and their attachments."""

from __future__ import annotations

import mimetypes
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from benchmarks.documents.builders.pictures import png

Tree = dict[str, Any]
"""Streams and storages of a compound file."""


def eml(
    *,
    text: str = "",
    html: str = "",
    head: Mapping[str, str] = {},
    files: Mapping[str, bytes] = {},
    inline: str = "",
    calendar: str = "",
    charset: str = "utf-8",
) -> bytes:
    """A message of text, HTML or both; `inline` is the text of a picture in the HTML."""
    message = EmailMessage()
    for name, value in {"From": "Ana Novak <ana@example.org>", "To": "office@example.org", **head}.items():
        message[name] = value
    if text:
        message.set_content(text, charset=charset, cte="quoted-printable")
    if html:
        (message.add_alternative if text else message.set_content)(html, subtype="html")
    if calendar:
        message.add_alternative(calendar, subtype="calendar")
    if inline:
        message.add_related(png(inline), "image", "png", cid="<p1>", filename="image001.png")
    for name, data in files.items():
        if name.endswith(".eml"):
            message.add_attachment(message_from_bytes(data, policy=policy.default), filename=name)
            continue
        kind, _, subtype = (mimetypes.guess_type(name)[0] or "application/octet-stream").partition("/")
        message.add_attachment(data, maintype=kind, subtype=subtype, filename=name.partition("#")[0])
    return message.as_bytes()


def mbox(*, files: Mapping[str, bytes]) -> bytes:
    """A folder of messages."""
    return b"".join(
        b"From ana@example.org Fri Mar 14 09:30:00 2025\n%s\n\n" % each for each in files.values()
    )


def msg(*, nested: Mapping[str, Any] | None = None, **about: Any) -> bytes:
    """A message of Outlook (see `_message`), with another one attached."""
    tree = _message(32, **about)
    if nested:
        inside = _properties(8, {"3001": nested["subject"]}, {"3705": 5}, objects=["3701"])
        tree["__attach_version1.0_#00000009"] = {**inside, "__substg1.0_3701000D": _message(24, **nested)}
    return _compound({**tree, "__nameid_version1.0": {f"__substg1.0_000{n}0102": b"" for n in (2, 3, 4)}})


def tnef(*, files: Mapping[str, bytes]) -> bytes:
    """What Outlook attaches as winmail.dat (MS-OXTNEF)."""
    made = struct.pack("<IH", 0x223E9F78, 1)
    for name, data in files.items():
        rendering = struct.pack("<HIHHI", 1, 0xFFFFFFFF, 0, 0, 0)
        for kind, content in ((0x69002, rendering), (0x18010, name.encode() + b"\0"), (0x6800F, data)):
            made += struct.pack("<BII", 2, kind, len(content)) + content
            made += struct.pack("<H", sum(content) & 0xFFFF)
    return made


def _message(
    header: int,
    subject: str,
    body: str = "",
    html: str = "",
    rtf: str = "",
    files: Mapping[str, bytes] = {},
    codepage: int = 0,
) -> Tree:
    """The streams of a message; its texts are in the 8-bit `codepage` if there is one."""
    values: Tree = {"001A": "IPM.Note", "0037": subject, "1000": body, "0C1A": "Ana Novak"}
    values |= {"1013": html.encode("cp1252"), "1009": _packed(rtf.encode("cp1252")) if rtf else b""}
    tree = _properties(header, values, {"3FFD": codepage} if codepage else {}, codepage)
    for at, (name, data) in enumerate(files.items()):
        about = {"3707": name, "3704": name[:8], "3701": data}
        tree[f"__attach_version1.0_#{at:08X}"] = _properties(8, about, {"3705": 1}, codepage)
    return tree


def _properties(
    header: int, values: Tree, numbers: Mapping[str, int], codepage: int = 0, objects: Sequence[str] = ()
) -> Tree:
    """The streams of these properties (MS-OXMSG)."""
    streams: Tree = {}
    entries = [(int(f"{key}0003", 16), value, 0) for key, value in numbers.items()]
    entries += [(int(f"{key}000D", 16), 0xFFFFFFFF, 1) for key in objects]
    for key, value in values.items():
        kind, extra = (0x0102, 0) if isinstance(value, bytes) else (0x001E, 1) if codepage else (0x001F, 2)
        data = value if kind == 0x0102 else value.encode(f"cp{codepage}" if codepage else "utf-16-le")
        if data:
            streams[f"__substg1.0_{key}{kind:04X}"] = data
            entries.append((int(key, 16) << 16 | kind, len(data) + extra, 0))
    listed = b"".join(struct.pack("<IIII", tag, 6, value, more) for tag, value, more in entries)
    return {"__properties_version1.0": bytes(header) + listed, **streams}


def _packed(rtf: bytes) -> bytes:
    """Compressed RTF (MS-OXRTFCP), all of it literal."""
    rtf += b" " * (-len(rtf) % 8)
    body = b"".join(b"\0" + rtf[at : at + 8] for at in range(0, len(rtf), 8))
    body += b"\x01" + struct.pack(">H", (207 + len(rtf) & 0xFFF) << 4)  # a reference to itself ends it
    checksum = zlib.crc32(body, 0xFFFFFFFF) ^ 0xFFFFFFFF
    return struct.pack("<IIII", len(body) + 12, len(rtf), 0x75465A4C, checksum) + body


FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


class _Sectors:
    """Numbered sectors of a size, and the table that chains them."""

    def __init__(self, size: int) -> None:
        self.size, self.data, self.table = size, b"", list[int]()

    def add(self, data: bytes) -> int:
        """The number of the first sector of these data."""
        first, count = len(self.table), -(-len(data) // self.size)
        self.data += data.ljust(count * self.size, b"\0")
        self.table += [*range(first + 1, first + count), END] if count else []
        return first if count else END


def _compound(tree: Tree) -> bytes:
    """A compound file (MS-CFB)."""
    sectors, small = _Sectors(512), _Sectors(64)
    entries: list[list[Any]] = [["Root Entry", 5, FREE, FREE, END, 0]]

    def enter(inside: Tree, parent: int) -> None:
        before = 0
        for name, content in sorted(inside.items(), key=lambda item: (len(item[0]), item[0].upper())):
            number = len(entries)
            entries.append([name, 1, FREE, FREE, 0, 0])
            entries[before or parent][2 if before else 3] = before = number
            if isinstance(content, dict):
                enter(content, number)
            else:
                place = (small if len(content) < 4096 else sectors).add(content)
                entries[number] = [name, 2, FREE, FREE, place, len(content)]

    enter(tree, 0)
    entries[0][4:] = [sectors.add(small.data), len(small.data)]
    listing = b"".join(
        struct.pack(
            "<64sHBBIII16sIQQIQ", name.encode("utf-16-le"), 2 * len(name) + 2, kind, 1, FREE, right, child,
             b"", 0, 0, 0, first, size,
        )
        for name, kind, right, child, first, size in entries
    )  # fmt: skip
    unused = struct.pack("<68x3I48x", FREE, FREE, FREE) * (-len(entries) % 4)
    directory = sectors.add(listing + unused)
    small.table += [FREE] * (-len(small.table) % 128)
    small_table = sectors.add(struct.pack(f"<{len(small.table)}I", *small.table))
    places = list(range(len(sectors.table), len(sectors.table) + 1 + len(sectors.table) // 120))
    table = [*sectors.table, *[FAT] * len(places)]
    table += [FREE] * (-len(table) % 128)
    head = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 62, 3, 0xFFFE, 9, 6, 0,
        len(places), directory, 0, 4096, small_table, len(small.table) // 128, END, 0,
    )  # fmt: skip
    head += struct.pack("<109I", *places, *[FREE] * (109 - len(places)))
    return head + sectors.data + struct.pack(f"<{len(table)}I", *table)


BUILDERS: dict[str, Callable[..., bytes]] = {"eml": eml, "mbox": mbox, "msg": msg, "tnef": tnef}
