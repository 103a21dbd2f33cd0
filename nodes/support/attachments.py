"""Files that come inside a message: its image, audio, video, file and text blocks become files of the thread.

LangChain reads the blocks of all providers (`content_blocks`); their content is in base64 or a data: address.
Nothing is ever fetched or opened for a block: a client could else have the server read its own disk or
network.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote_to_bytes

from langchain_core.messages import AnyMessage, HumanMessage

from forethought.settings import Settings
from forethought.state.agent import FileRef
from forethought.tools.files import FilesError, FileStore, free_name, safe_name, take_in, take_in_bytes

MOST_ATTACHMENTS = 50
"""In one message."""
_KINDS = ("image", "image_url", "audio", "input_audio", "video", "file", "document", "text-plain")
_KEPT_AS = {"image_url": "image", "input_audio": "audio", "document": "file", "text-plain": "file"}
_TAKEN_IN = "hash"
_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w-]+=[^;,]*)*)(;base64)?,", re.IGNORECASE)
_USUAL = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
_SUFFIX = {
    "audio/mpeg": ".mp3", "audio/mp3": ".mp3", "audio/wav": ".wav", "audio/x-wav": ".wav",
    "audio/mp4": ".m4a", "audio/ogg": ".ogg", "image/jpeg": ".jpg", "image/jpg": ".jpg",
    "text/plain": ".txt", "text/markdown": ".md", "application/json": ".json", "application/octet-stream": "",
}  # fmt: skip


@dataclass(frozen=True)
class _Content:
    """What a block carries: base64 or text, and what it says of itself."""

    kind: str
    base64: str | None = None
    text: str | None = None
    type: str = ""
    name: str = ""


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
            reference = _taken(_content(block), mine, [*taken, *files], store, settings)
            mine.append(reference)
            blocks.append(_named(str(block["type"]), reference))
        if mine:
            files += mine
            replaced.append(message.model_copy(update={"content": blocks}))
    return files, replaced


def _is_attachment(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _KINDS and _TAKEN_IN not in block


def _taken(
    content: _Content,
    mine: Sequence[FileRef],
    others: Sequence[FileRef],
    store: FileStore,
    settings: Settings,
) -> FileRef:
    """The file of a block. Two of one name in a message are two files; a name left out is made up."""
    names = [file["name"] for file in mine]
    if content.name:
        name = free_name(_with_suffix(safe_name(content.name), content.type), names)
    else:
        names += [file["name"] for file in others]
        numbered = (_with_suffix(f"attachment-{number}", content.type) for number in range(1, len(names) + 2))
        stems = {PurePosixPath(taken).stem for taken in names}
        name = next(made for made in numbered if PurePosixPath(made).stem not in stems)
    if content.text is not None:
        return take_in_bytes(name, content.text.encode("utf-8", "replace"), store=store, settings=settings)
    reference = take_in({"name": name, "data": content.base64}, store=store, settings=settings)
    if not reference["size"]:
        raise FilesError(f"{name}: the attachment is empty")
    return reference


def _named(kind: str, file: FileRef) -> dict[str, Any]:
    """The block that stays in the conversation."""
    return {
        "type": _KEPT_AS.get(kind, kind),
        "name": file["name"],
        "mime_type": file["type"],
        _TAKEN_IN: file["hash"],
    }


def _content(block: Mapping[str, Any]) -> _Content:
    """What the block carries, whoever's form it has. Raises FilesError."""
    kind = _KEPT_AS.get(block["type"], str(block["type"]))
    try:
        [found] = HumanMessage([dict(block)]).content_blocks
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FilesError(f"the {kind} block is malformed; send its content in base64") from error
    layers = [found, found.get("value"), found.get("extras"), block.get("metadata")]

    def first(*keys: str) -> str:
        values = (layer.get(key) for layer in layers if isinstance(layer, Mapping) for key in keys)
        return next((value for value in values if isinstance(value, str) and value), "")

    name, address = first("filename", "name", "title"), first("url", "image_url", "file_id", "path")
    if address[:5].lower() == "data:":
        return _from_address(address, kind, name)
    media_type = (first("mime_type") or _USUAL.get(kind, "")).partition(";")[0].lower()
    if data := first("base64", "data"):
        return _Content(kind, base64=data, type=media_type, name=name)
    if text := first("text"):
        return _Content(kind, text=text, type=media_type or "text/plain", name=name)
    raise FilesError(_elsewhere(kind, name, address))


def _from_address(address: str, kind: str, name: str) -> _Content:
    """The content of a data: address (RFC 2397)."""
    head = _DATA.match(address)
    if head is None:
        raise FilesError(f"{_called(kind, name)}: its data: address is broken; send the content in base64")
    body, given = address[head.end() :], (head[1] or "text/plain").lower()
    if head[3]:
        return _Content(kind, base64=body, type=given, name=name)
    return _Content(kind, text=unquote_to_bytes(body).decode("utf-8", "replace"), type=given, name=name)


def _elsewhere(kind: str, name: str, address: str) -> str:
    what = _called(kind, name)
    if address:
        return f"{what} only names where it is; nothing is fetched for a client: send the content in base64"
    return f"{what} has no content; send it in base64"


def _called(kind: str, name: str) -> str:
    return f"the {kind} block {safe_name(name)}" if name else f"the {kind} block"


def _with_suffix(name: str, media_type: str) -> str:
    """The name with an ending that tells its type, if it has none: the tools go by it."""
    if re.fullmatch(r"\.\w{1,8}", PurePosixPath(name).suffix) or not media_type:
        return name
    suffix = _SUFFIX.get(media_type, mimetypes.guess_extension(media_type) or "")
    return name + suffix
