"""The tool `inspect_image`: what a picture shows, or an answer from it (PreFlect A.2's visual inspector)."""

from __future__ import annotations

import asyncio

from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.given_files import answer_about, file_store, find_name, stored_bytes
from forethought.tools.media.picture import prepare


async def inspect_image(env: ToolEnv, path: str, question: str | None = None) -> Observation:
    """Look at one of the given pictures: describe it, or answer a question about it.

    Takes jpg, png, gif (the first frame), bmp and webp. A large picture is scaled down, so fine print may be
    lost. For several facts from one picture ask for them in one question.

    Args:
        path: Name of a given file, such as chart.png.
        question: What to find out from the picture, or null for a description with all text in it.
    """
    name = find_name(path, env.files)
    store = file_store(env)
    if env.look is None:
        raise ToolError(
            "looking at pictures is not available here",
            cause="unavailable",
            hint="Go on without the picture, or ask the user what it shows.",
        )
    data = await asyncio.to_thread(stored_bytes, store, env.files[name], name)
    picture = await asyncio.to_thread(prepare, data, name)
    answer = await env.look((question or "").strip(), picture.image, name)
    heading = f"{name}, a picture of {picture.width} x {picture.height} pixels"
    return answer_about(name, f"{heading} ({picture.note})." if picture.note else f"{heading}.", answer)


# Decoding is quick; what takes long is the model, whose own time limit is the operator's.
INSPECT_IMAGE = make_tool(inspect_image, timeout_s=900, retryable=True)
