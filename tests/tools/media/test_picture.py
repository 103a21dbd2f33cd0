"""Pictures prepared for a model: small, upright and without metadata."""

from __future__ import annotations

import io
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PIL
from PIL import ImageDraw
from PIL.PngImagePlugin import PngInfo

from forethought.tools.documents.document import Unreadable
from forethought.tools.media.picture import LARGEST_BYTES, LONGEST_SIDE, prepare

FILES = Path(__file__).with_name("files")


def saved(image: PIL.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def shown(data: bytes) -> PIL.Image:
    """What the model sees, decoded."""
    picture = prepare(data)
    assert len(picture.data) <= LARGEST_BYTES
    image = PIL.open(io.BytesIO(picture.data))
    assert PIL.MIME[str(image.format)] == picture.mime
    image.load()
    return image


def card() -> PIL.Image:
    """Red above, blue below."""
    image = PIL.new("RGB", (120, 80), "blue")
    ImageDraw.Draw(image).rectangle((0, 0, 119, 39), fill="red")
    return image


def close(image: PIL.Image, at: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    seen: Any = image.convert("RGB").getpixel(at)
    return all(abs(a - b) < 40 for a, b in zip(seen, colour, strict=True))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_every_format_keeps_size_and_colours(kind: str) -> None:
    data = saved(card(), kind)
    picture = prepare(data)
    assert (picture.width, picture.height, picture.note) == (120, 80, "")
    assert picture.mime == ("image/jpeg" if kind == "JPEG" else "image/png")
    image = shown(data)
    assert (close(image, (60, 10), (255, 0, 0)), close(image, (60, 70), (0, 0, 255))) == (True, True)


@pytest.mark.parametrize(
    ("name", "size", "note"),
    [
        ("ffmpeg_card.png", (320, 240), ""),
        ("ffmpeg_card.jpg", (320, 240), ""),
        ("ffmpeg_card.bmp", (64, 48), ""),
        ("ffmpeg_card.webp", (160, 120), ""),
        ("ffmpeg_animated.gif", (160, 120), "it is animated; only its first frame was looked at"),
    ],
)
def test_pictures_made_by_another_program(name: str, size: tuple[int, int], note: str) -> None:
    data = (FILES / name).read_bytes()
    picture = prepare(data)
    assert ((picture.width, picture.height), picture.note) == (size, note)
    assert shown(data).size == size


def test_a_large_picture_is_scaled_down() -> None:
    data = saved(card().resize((2500, 1250)), "PNG")
    picture = prepare(data)
    assert (picture.width, picture.height) == (2500, 1250)
    assert picture.note == f"scaled down to {LONGEST_SIDE} x {LONGEST_SIDE // 2}"
    image = shown(data)
    assert image.size == (LONGEST_SIDE, LONGEST_SIDE // 2)
    assert close(image, (1000, 100), (255, 0, 0))


def test_noise_that_does_not_compress_still_fits() -> None:
    noise = PIL.frombytes("RGB", (1500, 1500), random.Random(1).randbytes(6_750_000))
    picture = prepare(saved(noise, "PNG", compress_level=1))
    assert picture.mime == "image/jpeg"
    assert len(picture.data) <= LARGEST_BYTES


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_stands_upright_however_the_camera_was_held(orientation: int) -> None:
    undo = [None, None, 0, 3, 1, 5, 2, 6, 4][orientation]  # as Pillow numbers its operations
    held = card() if undo is None else card().transpose(PIL.Transpose(undo))
    exif = PIL.Exif()
    exif[0x0112] = orientation
    data = saved(held, "JPEG", exif=exif, quality=95)
    picture = prepare(data)
    assert (picture.width, picture.height, picture.note) == (120, 80, "")
    image = shown(data)
    assert (close(image, (60, 10), (255, 0, 0)), close(image, (60, 70), (0, 0, 255))) == (True, True)


def test_metadata_is_removed() -> None:
    exif = PIL.Exif()
    exif[0x010E] = "SECRET-PLACE"
    text = PngInfo()
    text.add_text("Comment", "SECRET-PLACE")
    icc = b"SECRET-PLACE" * 20
    made = [
        saved(card(), "JPEG", exif=exif, comment="SECRET-PLACE", icc_profile=icc),
        saved(card(), "PNG", pnginfo=text, exif=exif, icc_profile=icc),
        saved(card(), "WEBP", exif=exif, xmp=b"<x>SECRET-PLACE</x>", icc_profile=icc),
        saved(card(), "GIF", comment="SECRET-PLACE"),
    ]
    for data in made:
        assert b"SECRET" in data
        picture = prepare(data)
        assert b"SECRET" not in picture.data
        assert not PIL.open(io.BytesIO(picture.data)).getexif()


def test_ink_on_a_transparent_ground_is_visible() -> None:
    for ink, ground in (("black", (255, 255, 255)), ("white", (0, 0, 0))):
        image = PIL.new("RGBA", (40, 40), (0, 0, 0, 0))
        ImageDraw.Draw(image).rectangle((10, 10, 30, 30), fill=ink)
        assert close(shown(saved(image, "PNG")), (2, 2), ground)


def test_sixteen_bit_greys_keep_their_levels() -> None:
    grey = PIL.frombytes("I;16", (256, 1), b"".join(struct.pack("<H", level * 256) for level in range(256)))
    image = shown(saved(grey, "PNG"))
    assert [image.getpixel((x, 0)) for x in (0, 64, 128, 255)] == [0, 64, 128, 255]


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "CMYK"])
def test_every_mode_of_pixels(mode: str) -> None:
    image = shown(saved(card().convert(mode), "JPEG" if mode == "CMYK" else "PNG"))
    assert image.mode in ("L", "RGB")


def png_claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header promises width x height."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(9_500, 9_500), (60_000, 60_000)])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_bomb_is_not_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(Unreadable, match="too large to be looked at") as raised:
        prepare(png_claiming(*size))
    assert raised.value.cause == "limit"


@pytest.mark.parametrize(
    ("data", "said", "cause"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is damaged", "tool"),
        (saved(card(), "PNG")[:200], "is damaged", "tool"),
        (saved(card(), "JPEG")[:300], "is damaged", "tool"),
        (png_claiming(100, 100), "is damaged", "tool"),
    ],
)
def test_an_unusable_picture_names_its_fault(data: bytes, said: str, cause: str) -> None:
    with pytest.raises(Unreadable, match=said) as raised:
        prepare(data)
    assert raised.value.cause == cause
    assert raised.value.hint
