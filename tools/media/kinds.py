"""Which picture or sound a file is, by its first bytes: names are often wrong, and a decoder told the kind
opens nothing else.
"""

from __future__ import annotations

PICTURES = "jpg, png, gif, bmp, webp"
SOUNDS = "mp3, m4a, wav, ogg, flac"

_AT_START = (
    (b"\xff\xd8\xff", "jpg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"OggS\x00", "ogg"),
    (b"fLaC\x00", "flac"),
    (b"fLaC\x80", "flac"),
    (b"ID3\x02", "mp3"),
    (b"ID3\x03", "mp3"),
    (b"ID3\x04", "mp3"),
)
_RIFF = {b"WEBP": "webp", b"WAVE": "wav"}
_PICTURE_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis", b"heim", b"hevc")
"""Of ISO media files that hold pictures and no sound."""


def picture_kind(data: bytes) -> str:
    """One of PICTURES, or ''."""
    kind = _kind(data)
    return kind if kind in PICTURES.split(", ") else ""


def sound_kind(data: bytes) -> str:
    """One of SOUNDS, or ''. A film is m4a too: it is the same container, and its sound can be heard."""
    kind = _kind(data)
    return kind if kind in SOUNDS.split(", ") else ""


def _kind(data: bytes) -> str:
    for start, kind in _AT_START:
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        return "" if data[8:12] in _PICTURE_BRANDS else "m4a"
    if data[:2] == b"BM" and len(data) > 26 and data[6:10] == b"\0\0\0\0":
        return "bmp"
    return "mp3" if _mpeg_frame(data) else ""


def _mpeg_frame(data: bytes) -> bool:
    """Whether the data begins with the header of an MPEG audio frame of layer 3 (no ID3 tag before it)."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE6 != 0xE2 or data[1] & 0x18 == 0x08:
        return False
    return data[2] & 0xF0 not in (0x00, 0xF0) and data[2] & 0x0C != 0x0C
