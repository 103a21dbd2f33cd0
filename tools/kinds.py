"""What a file is, by its first bytes.

Names are often wrong, and a decoder that is told the kind opens nothing else.
"""

from __future__ import annotations

import filetype  # type: ignore[import-untyped]

PICTURES = "jpg, png, gif, bmp, webp, tif, avif"
OTHER_PICTURES = "heic, heif, psd, cr2, jxr, jpx, xcf, dwg, dcm"
"""Pictures that no decoder here opens."""
SOUNDS = "mp3, m4a, wav, ogg, flac"
_HEAD = 8192


def binary_kind(data: bytes) -> str:
    """The usual extension of the file's format, such as png or pdf; '' for text and what is not known."""
    head = data[:_HEAD]
    # Formats that begin with letters are told from a text, such as a table whose first column is BMI.
    if head[:1] < b"\x80" and b"\0" not in head and not head.startswith((b"%PDF-", b"{\\rtf")):
        return ""
    extension = filetype.guess_extension(head) or ""
    return {"apng": "png"}.get(extension, extension)


def picture_kind(data: bytes) -> str:
    """One of PICTURES, or ''."""
    kind = binary_kind(data)
    return kind if kind in PICTURES.split(", ") else ""


def is_pdf(data: bytes) -> bool:
    """Whether it is a PDF, which may begin with other bytes."""
    return b"%PDF-" in data[:1024]


def sound_kind(data: bytes) -> str:
    """One of SOUNDS, or ''. A film is m4a too: it is the same container, and its sound can be heard."""
    kind = binary_kind(data)
    kind = "m4a" if kind in ("mp4", "mov", "m4v", "3gp") else kind
    return kind if kind in SOUNDS.split(", ") else ""
