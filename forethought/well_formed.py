"""Text that every database takes and every encoder can write."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """`text` without NUL, and with "?" for each half of a surrogate pair: a command line that is no UTF-8 or
    a client's JSON may bring one."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
