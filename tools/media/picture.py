"""A picture made ready to be shown to a model: one frame, upright, of moderate size, without metadata.

Metadata (places, names, thumbnails of what was cut away) is nobody's business but the file owner's, so
every picture is written anew from its pixels. A process of its own does it (`tools.documents.child`): a few
bytes can stand for a gigabyte of pixels.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

from PIL import Image as PIL
from PIL import ImageOps, ImageStat

from forethought.tools.documents.document import Unreadable
from forethought.tools.kinds import is_pdf, picture_kind

Pixels = PIL.Image

LONGEST_SIDE = 2048
"""Pixels; what is larger is scaled down by providers anyway."""
LARGEST_BYTES = 3_500_000
"""Of a PNG; what is larger becomes a JPEG, of which no picture of this size is larger."""
MOST_PIXELS = 89_000_000
"""More are not decoded: a few bytes can promise billions. Just below where Pillow itself begins to warn."""
_SCALE = 3.0
"""Pixels per point of a PDF's page: 216 to the inch."""
_QUALITY = 80
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "AVIF")
"""The only decoders used, whatever the file's extension."""
_LIGHT = 200
"""Mean brightness (0 to 255) above which a drawing without background is laid on black, not white."""


@dataclass(frozen=True)
class Picture:
    """A picture ready to be shown."""

    mime: str
    data: bytes
    width: int
    height: int
    """Pixels of the file, upright."""
    note: str = ""
    """What the reader should know: scaled down, or only the first of several frames."""


def prepare(data: bytes, page: int | None = None) -> Picture:
    """The picture in a file's `data`, or a page of a PDF or TIFF, made ready in this process.

    Args:
        data: The file.
        page: Number of the page, from 1; None for the first.

    Raises:
        Unreadable: The file is damaged or too large, or has no such page.
    """
    if is_pdf(data):
        return _pdf_page(data, page or 1)
    pixels, size, frames, animated = _decoded(data, (page or 1) - 1)
    encoded, mime = _encoded(pixels, photo=picture_kind(data) == "jpg")
    which = "its first frame" if page is None else f"frame {page}"
    notes = [f"it is animated; only {which} was looked at"] if animated else []
    if frames > 1 and not animated:
        notes.append(f"page {page or 1} of {frames}")
    if pixels.size != size:
        notes.append(f"scaled down to {pixels.width} x {pixels.height}")
    return Picture(mime, encoded, *size, "; ".join(notes))


def _pdf_page(data: bytes, page: int) -> Picture:
    from forethought.tools.documents.pdf import open_pdf

    with open_pdf(data) as document:
        if not 1 <= page <= len(document):
            raise _no_page(page, len(document))
        shown = document[page - 1]
        scale = min(_SCALE, LONGEST_SIDE / max(*shown.get_size(), 1.0))
        document.init_forms()  # so that filled fields are drawn
        pixels = shown.render(scale=scale).to_pil().convert("RGB")
        encoded, mime = _encoded(pixels, photo=False)
        return Picture(mime, encoded, pixels.width, pixels.height, f"page {page} of {len(document)}")


def _no_page(page: int, pages: int) -> Unreadable:
    return Unreadable(
        f"has {pages} pages; there is no page {page}", cause="arguments", hint="Ask for another."
    )


def _decoded(data: bytes, number: int) -> tuple[Pixels, tuple[int, int], int, bool]:
    """A frame, upright and scaled down, the size that it has in the file, how many frames there are, and
    whether they are a film.
    """
    PIL.init()  # so that every decoder in _FORMATS is there to be chosen
    try:
        image = PIL.open(io.BytesIO(data), formats=_FORMATS)
        if image.width * image.height > MOST_PIXELS:
            raise PIL.DecompressionBombError
        # MPO is a JPEG with a second picture, as some telephones make: no film.
        frames = 1 if image.format == "MPO" else getattr(image, "n_frames", 1)
        if number >= frames:
            raise _no_page(number + 1, frames)
        image.seek(number)
        ImageOps.exif_transpose(image, in_place=True)
        size, plain = image.size, _plain(image)
        plain.thumbnail((LONGEST_SIDE, LONGEST_SIDE), PIL.Resampling.LANCZOS)
        flat = _on_ground(plain) if plain.mode == "RGBA" else plain.copy()
        flat.info = {}
        return flat, size, frames, frames > 1 and image.format != "TIFF"
    except Unreadable:
        raise
    except (PIL.DecompressionBombError, PIL.DecompressionBombWarning) as error:
        raise Unreadable(
            f"is too large to be looked at (at most {MOST_PIXELS // 1_000_000} million pixels)",
            cause="limit",
            hint="Ask the user for a smaller copy, or for the part that matters.",
        ) from error
    except MemoryError:  # says nothing of the file
        raise
    # Decoders of damaged files raise just anything.
    except Exception as error:
        raise Unreadable(
            f"is damaged: it cannot be decoded as a picture ({type(error).__name__})",
            hint="Ask the user for the file again, or as a PNG.",
        ) from error


def _plain(image: Pixels) -> Pixels:
    """As grey, RGB or RGBA of 8 bits, without a copy where it is that already."""
    if image.has_transparency_data:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    if image.mode.startswith("I") or image.mode == "F":
        # 16 bits a pixel: a plain conversion would turn all but the darkest into white.
        exact = image.convert("F")
        high = exact.getextrema()[1]
        scale = 1 / 256 if float(high) > 255 else 1.0  # type: ignore[arg-type]
        return exact.point(lambda value: value * scale).convert("L")
    if image.mode in ("L", "RGB"):
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _on_ground(image: Pixels) -> Pixels:
    """RGBA laid on white, or on black when what is drawn is light itself."""
    alpha = image.getchannel("A")
    light = alpha.getbbox() is not None and ImageStat.Stat(image.convert("L"), mask=alpha).mean[0] > _LIGHT
    ground = PIL.new("RGBA", image.size, "black" if light else "white")
    return PIL.alpha_composite(ground, image).convert("RGB")


def _encoded(pixels: Pixels, photo: bool) -> tuple[bytes, str]:
    """Bytes and media type: JPEG, but PNG, which keeps text sharp, for what was no JPEG before and is small
    enough.
    """
    png, jpeg = io.BytesIO(), io.BytesIO()
    if not photo:
        pixels.save(png, "PNG")
        if png.tell() <= LARGEST_BYTES:
            return png.getvalue(), "image/png"
    pixels.save(jpeg, "JPEG", quality=_QUALITY)
    return jpeg.getvalue(), "image/jpeg"
