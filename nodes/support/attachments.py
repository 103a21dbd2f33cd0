"""Files that come inside a message: its image, audio, video, file and text blocks become files of the thread.

LangChain reads the blocks of all providers (`content_blocks`); their content is in base64 or a data: address.
Nothing is ever fetched or opened for a block: a client could else have the server read its own disk or
network.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from forethought.settings import Settings
from forethought.state.agent import FileRef
from forethought.tools.files import FilesError, FileStore, free_name, safe_name, take_in, take_in_bytes

_KINDS = ("image", "image_url", "audio", "input_audio", "video", "file", "document", "text-plain")
"""Types of blocks that carry a file."""
_USUAL = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "text-plain": "text/plain"}
_SUFFIX = {"audio/wav": ".wav", "audio/mp3": ".mp3", "audio/ogg": ".ogg", "image/jpg": ".jpg"}
"""File endings that Python's table lacks or has different ones for."""


def take_attachments(
    messages: Sequence[AnyMessage], others: Sequence[FileRef], *, store: FileStore, settings: Settings
) -> tuple[list[FileRef], list[AnyMessage]]:
    """The files in the human messages, and those messages again with names in the place of contents.

    Args:
        messages: The conversation. A message that was taken in already holds nothing to take.
        others: Files of the thread; an attachment without a name gets one that none of them has, and one
            named as a file of the thread takes its place.
        store: Where contents are kept.
        settings: The operator's size limit.

    Raises:
        FilesError: A block's content is missing, elsewhere, broken or too large.
    """
    files: list[FileRef] = []
    replaced: list[AnyMessage] = []
    for message in messages:
        if not isinstance(message, HumanMessage) or not any(map(_is_attachment, message.content)):
            continue
        before, names = [file["name"] for file in (*others, *files)], list[str]()
        blocks = []
        for block in message.content:
            if isinstance(block, dict) and _is_attachment(block):
                file, kind = _take(block, names, before, store, settings)
                names.append(file["name"])
                files.append(file)
                block = {"type": kind, "name": file["name"], "mime_type": file["type"], "hash": file["hash"]}
            blocks.append(block)
        replaced.append(message.model_copy(update={"content": blocks}))
    return files, replaced


def _is_attachment(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _KINDS and "hash" not in block


def _take(
    block: dict[str, Any], names: Sequence[str], before: Sequence[str], store: FileStore, settings: Settings
) -> tuple[FileRef, str]:
    """The file of a block, and its kind. Two of one name in a message are two files; one without a name is
    numbered."""
    kind, name, media_type, content = _read(block)
    if not name:
        names = [*names, *before]
        name = f"attachment-{1 + sum(other.startswith('attachment-') for other in names)}"
    if not re.fullmatch(r"\.\w{1,8}", PurePosixPath(name).suffix):  # the tools go by a name's ending
        name += _SUFFIX.get(media_type) or mimetypes.guess_extension(media_type) or ""
    name = free_name(safe_name(name), names)
    if isinstance(content, bytes):
        return take_in_bytes(name, content, store=store, settings=settings), "file"
    return take_in({"name": name, "data": content}, store=store, settings=settings), kind


def _read(block: dict[str, Any]) -> tuple[str, str, str, str | bytes]:
    """The kind, the name ('' without one), the media type and the content, as base64 or as text's bytes, of a
    block in any provider's form. Raises FilesError."""
    try:
        standard: Any = HumanMessage([block]).content_blocks[0]
        extras = standard.get("extras") or {}
        named = {**(extras.get("metadata") or standard.get("metadata") or {}), **extras, **standard}
        name = next((str(named[key]) for key in ("filename", "name", "title") if named.get(key)), "")
        kind, data = standard["type"], standard.get("base64") or standard.get("data") or ""
        media_type = standard.get("mime_type") or standard.get("mimeType") or _USUAL.get(kind, "")
        before, encoded, after = (standard.get("url") or "").partition(";base64,")
        if encoded and before.startswith("data:"):
            media_type, data = before.removeprefix("data:"), after
        media_type = media_type.partition(";")[0].lower()
        content = data or (standard.get("text") or "").encode("utf-8", "replace")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FilesError("an attached content block is malformed; send its content in base64") from error
    if not content:
        label = f" {safe_name(name)}" if name else ""
        raise FilesError(
            f"the {kind} block{label} has no content (the agent fetches no addresses): send its "
            "content in base64"
        )
    return kind, name, media_type, content
