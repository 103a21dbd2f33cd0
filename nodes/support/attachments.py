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

MOST_ATTACHMENTS = 50
"""In one message."""
_KINDS = {
    "image": "image", "image_url": "image", "audio": "audio", "input_audio": "audio", "video": "video",
    "file": "file", "document": "file", "text-plain": "file",
}  # fmt: skip
"""Types of blocks that carry a file, and the type of the block that stays in the conversation."""
_STORED = "hash"
_USUAL = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
_SUFFIX = {
    "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/wav": ".wav", "audio/x-wav": ".wav",
    "audio/mp4": ".m4a", "audio/ogg": ".ogg", "image/jpeg": ".jpg", "image/jpg": ".jpg",
    "text/plain": ".txt", "text/markdown": ".md", "application/json": ".json", "application/octet-stream": "",
}  # fmt: skip


def take_attachments(
    messages: Sequence[AnyMessage], taken: Sequence[FileRef], *, store: FileStore, settings: Settings
) -> tuple[list[FileRef], list[AnyMessage]]:
    """The files in the human messages, and those messages again with names in the place of contents.

    Args:
        messages: The conversation. A message that was taken in already holds nothing to take.
        taken: Files of the thread; an attachment without a name gets one that none of them has.
        store: Where contents are kept.
        settings: The operator's size limit.

    Returns:
        References of the files, and messages whose ids replace the old ones. An attachment named as a file
        of the thread takes its place, as any other file given again does.

    Raises:
        FilesError: A block's content is missing, elsewhere, broken or too large.
    """
    files: list[FileRef] = []
    replaced: list[AnyMessage] = []
    for message in messages:
        if not isinstance(message, HumanMessage) or not isinstance(message.content, list):
            continue
        if sum(map(_is_attachment, message.content)) > MOST_ATTACHMENTS:
            raise FilesError(
                f"a message may have {MOST_ATTACHMENTS} attachments at most; send fewer at a time"
            )
        blocks: list[Any] = []
        mine: list[FileRef] = []
        for block in message.content:
            if not isinstance(block, dict) or not _is_attachment(block):
                blocks.append(block)
                continue
            file = _take(block, mine, [*taken, *files], store, settings)
            mine.append(file)
            blocks.append(
                {
                    "type": _KINDS[block["type"]],
                    "name": file["name"],
                    "mime_type": file["type"],
                    _STORED: file["hash"],
                }
            )
        if mine:
            files += mine
            replaced.append(message.model_copy(update={"content": blocks}))
    return files, replaced


def _is_attachment(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _KINDS and _STORED not in block


def _take(
    block: Mapping[str, Any],
    mine: Sequence[FileRef],
    others: Sequence[FileRef],
    store: FileStore,
    settings: Settings,
) -> FileRef:
    """The file of a block. Two of one name in a message are two files; one without a name is numbered."""
    name, media_type, content = _content(block)
    names = [file["name"] for file in mine]
    if not name:
        names += [file["name"] for file in others]
        name = f"attachment-{1 + sum(other.startswith('attachment-') for other in names)}"
    name = free_name(_with_suffix(safe_name(name), media_type), names)
    if isinstance(content, bytes):
        return take_in_bytes(name, content, store=store, settings=settings)
    return take_in({"name": name, "data": content}, store=store, settings=settings)


def _content(block: Mapping[str, Any]) -> tuple[str, str, str | bytes]:
    """The name ('' without one), the media type and the content, as base64 or as text's bytes, of a block in
    any provider's form. Raises FilesError."""
    kind = _KINDS[block["type"]]
    try:
        [found] = HumanMessage([dict(block)]).content_blocks
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FilesError(f"the {kind} block is malformed; send its content in base64") from error
    layers = [found, found.get("value"), found.get("extras"), block.get("metadata")]

    def first(*keys: str) -> str:
        values = (layer.get(key) for layer in layers if isinstance(layer, Mapping) for key in keys)
        return next((value for value in values if isinstance(value, str) and value), "")

    name, address = first("filename", "name", "title"), first("url", "image_url", "file_id", "path")
    media_type, data = first("mime_type") or _USUAL.get(kind, ""), first("base64", "data")
    if address.startswith("data:") and ";base64," in address:
        media_type, _, data = address.removeprefix("data:").partition(";base64,")
    media_type = media_type.partition(";")[0].lower()
    if data:
        return name, media_type, data
    if text := first("text"):
        return name, media_type or "text/plain", text.encode("utf-8", "replace")
    why = "only names where it is, and nothing is fetched for a client" if address else "has no content"
    shown = f" {safe_name(name)}" if name else ""
    raise FilesError(f"the {kind} block{shown} {why}: send its content in base64")


def _with_suffix(name: str, media_type: str) -> str:
    """The name with an ending that tells its type, if it has none: the tools go by it."""
    if re.fullmatch(r"\.\w{1,8}", PurePosixPath(name).suffix) or not media_type:
        return name
    return name + _SUFFIX.get(media_type, mimetypes.guess_extension(media_type) or "")
