"""Unpack what a server sent packed, never to more than a limit: a few kilobytes may hold gigabytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable

ACCEPTED = "gzip, deflate, br, zstd"
_MOST_LAYERS = 3
_MOST_PIECES = 1000
"""Members or frames one after another: each costs a copy of what follows it."""
_BITE = 256
_ZSTD_WINDOW = 1 << 27
"""Bytes of memory that a zstd frame may ask for."""


class TooLarge(Exception):
    """More came out than was allowed."""


class Unpackable(Exception):
    """The content is not what its encoding says, or in one that is not known; the message says which."""


def expand(data: bytes, encoding: str, limit: int) -> bytes:
    """`data` without the layers of a Content-Encoding header.

    Args:
        data: The body as it came.
        encoding: The header: names of encodings, the last one applied last.
        limit: Most bytes that may come out, of any layer.

    Raises:
        TooLarge: More than `limit` came out.
        Unpackable: It cannot be unpacked.
    """
    layers = [name.strip().lower() for name in encoding.split(",")]
    layers = [name for name in layers if name not in ("", "identity", "none")]
    if len(layers) > _MOST_LAYERS:
        raise Unpackable(f"packed {len(layers)} times over")
    for name in reversed(layers):
        unpack = _UNPACK.get(name.removeprefix("x-"))
        if unpack is None:
            raise Unpackable(f"packed as '{name[:40]}', which is not known")
        data = unpack(data, limit) if data else data
        if len(data) > limit:
            raise TooLarge
    return data


def _gzip(data: bytes, limit: int) -> bytes:
    """One gzip member after another; what follows the last one is ignored, as browsers do."""
    found, pieces = b"", 0
    while data.startswith(b"\x1f\x8b"):
        pieces = _counted(pieces)
        part, data = _inflate(data, zlib.MAX_WBITS | 16, limit - len(found))
        found += part
        if len(found) > limit:
            return found
    if not found and data:
        raise Unpackable("no valid gzip")
    return found


def _deflate(data: bytes, limit: int) -> bytes:
    """With the header that the standard asks for, or without it as some servers send it."""
    try:
        return _inflate(data, zlib.MAX_WBITS, limit)[0]
    except Unpackable:
        return _inflate(data, -zlib.MAX_WBITS, limit)[0]


def _inflate(data: bytes, bits: int, limit: int) -> tuple[bytes, bytes]:
    """At most one byte more than the limit, and what follows the stream."""
    unpacker = zlib.decompressobj(bits)
    try:
        found = unpacker.decompress(data, limit + 1)
    except zlib.error as error:
        raise Unpackable("no valid gzip or deflate") from error
    if not unpacker.eof and len(found) <= limit:
        raise Unpackable("cut off")
    return found, unpacker.unused_data


def _brotli(data: bytes, limit: int) -> bytes:
    import brotli

    unpacker, found = brotli.Decompressor(), b""
    try:
        while len(found) <= limit and not unpacker.is_finished():
            piece = unpacker.process(data, output_buffer_limit=limit + 1 - len(found))
            if not piece and not data:
                raise Unpackable("cut off")
            found, data = found + piece, b""
    except brotli.error as error:
        raise Unpackable("no valid brotli") from error
    return found


def _zstd(data: bytes, limit: int) -> bytes:
    """One frame after another, in small bites: four bytes of a frame may be 128 kilobytes of text."""
    import zstandard

    found = bytearray()
    unpackers = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    pieces = 0
    try:
        while data and len(found) <= limit:
            pieces = _counted(pieces)
            unpacker, at = unpackers.decompressobj(), 0
            while not unpacker.eof and at < len(data) and len(found) <= limit:
                found += unpacker.decompress(data[at : at + _BITE])
                at += _BITE
            if not unpacker.eof and len(found) <= limit:
                raise Unpackable("cut off")
            data = unpacker.unused_data + data[at:]
    except zstandard.ZstdError as error:
        raise Unpackable("no valid zstd") from error
    return bytes(found[: limit + 1])


def _counted(pieces: int) -> int:
    if pieces >= _MOST_PIECES:
        raise Unpackable(f"in more than {_MOST_PIECES} pieces")
    return pieces + 1


_UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
