"""Pictures with a text drawn in them, of several pages if need be."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any


def _drawn(text: str) -> Any:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (420, 160), 255)
    ImageDraw.Draw(image).multiline_text((12, 12), text, fill=0, font=ImageFont.load_default(24))
    return image


def _saved(text: str, kind: str) -> bytes:
    file = io.BytesIO()
    _drawn(text).save(file, kind)
    return file.getvalue()


def png(text: str) -> bytes:
    """A picture of a text."""
    return _saved(text, "PNG")


def jpg(text: str) -> bytes:
    """As `png`, as a photo."""
    return _saved(text, "JPEG")


def tif(pages: Sequence[str]) -> bytes:
    """A fax: a picture a page."""
    file = io.BytesIO()
    first, *rest = map(_drawn, pages)
    first.save(file, "TIFF", save_all=True, append_images=rest)
    return file.getvalue()


BUILDERS: dict[str, Callable[..., bytes]] = {"png": png, "jpg": jpg, "tif": tif, "tiff": tif}
