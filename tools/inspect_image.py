"""The tool `inspect_image`: what a picture shows, or an answer from it (PreFlect A.2's visual inspector)."""

from __future__ import annotations

import asyncio
import base64
import hashlib

from forethought.models.types import Image
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.reader import read_apart
from forethought.tools.given_files import answer_about, find_file, not_of_kind, stored_bytes
from forethought.tools.kinds import PICTURES, is_pdf, picture_kind


async def inspect_image(
    env: ToolEnv, path: str, question: str | None = None, page: int | None = None
) -> Observation:
    """Look at one of the given pictures, or at a page of a PDF: describe it, or answer a question about it.

    Takes jpg, png, gif, bmp, webp, avif, tif and pdf. Use it for pages that have no text, such as scans. A
    large picture is scaled down, so fine print may be lost. For several facts from one picture ask for them
    in one question.

    Args:
        path: Name of a given file, such as chart.png.
        question: What to find out from the picture, or null for a description with all text in it.
        page: Number of the page of a pdf or tif, from 1, or null for the first.
    """
    store, content_hash, name = await asyncio.to_thread(find_file, path, env)
    data = await asyncio.to_thread(stored_bytes, store, content_hash, name)
    if not picture_kind(data) and not is_pdf(data):
        use = "Use read_file for documents and inspect_audio for sound, or ask the user for a PNG."
        raise not_of_kind(data, name, f"a picture that can be looked at (supported: {PICTURES}, pdf)", use)
    try:
        answered = await read_apart({"job": "picture", "page": page}, data, env.settings)
    except Unreadable as error:
        raise ToolError(f"{name} {error.what}", cause=error.cause, hint=error.hint) from error
    from forethought.tools.media.picture import Picture  # which loads Pillow

    picture = Picture(**{**answered, "data": base64.b64decode(answered["data"])})
    image = Image(
        picture.mime,
        picture.data,
        hashlib.sha256(data + (b"" if page is None else b"page %d" % page)).hexdigest(),
    )
    assert env.look is not None, "a run has a vision model"
    answer = await env.look((question or "").strip(), image, name)
    heading = f"{name}, a picture of {picture.width} x {picture.height} pixels"
    return answer_about(name, f"{heading} ({picture.note})." if picture.note else f"{heading}.", answer)


# Decoding is quick; what takes long is the model, whose own time limit is the operator's.
INSPECT_IMAGE = make_tool(inspect_image, timeout_s=900, retryable=True, media=("image/", "application/pdf"))
