"""Recording model calls: a file of JSON lines that `replay` can serve again.

The first line is a header; then comes a line a call, `{key, role, reply_type, messages, schema, functions,
reply{text, calls, finish_reason}, usage, model}`. Long texts and schemas stand once, on `{part,
value}` lines before their first use, and are named by `{"part": id}`. A line is written and flushed when its
call is done.
A message's images are `[{mime, sha256}]`, never their bytes.
Keys and headers are never written; secrets are redacted from the text (`forethought.redaction`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from forethought.models.types import (
    ConfigurationError,
    Message,
    ModelReply,
    ModelRequest,
    Transport,
    WrappedTransport,
)
from forethought.redaction import redact_json, redactor
from forethought.settings import Settings

FORMAT = 1
_LONG = 200
"""Characters from which a text is written once and named."""


def dumps(value: Any) -> str:
    """Canonical JSON on one line."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """A short name of a JSON value's content."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()[:24]


def logical(request: ModelRequest, scrub: Callable[[str], str]) -> dict[str, Any]:
    """What identifies a request, whichever model answers it and by whatever method."""
    return {
        "role": request.role,
        "reply_type": request.reply,
        "messages": [_message(message, scrub) for message in request.messages],
        "schema": request.schema,
        "functions": [asdict(function) for function in request.functions],
    }


def _message(message: Message, scrub: Callable[[str], str]) -> dict[str, Any]:
    """A message, with an image as its hash and media type: its bytes stay out of recordings."""
    entry: dict[str, Any] = {"role": message.role, "text": scrub(message.text)}
    if message.images:
        entry["images"] = [{"mime": image.mime, "sha256": image.sha256} for image in message.images]
    return entry


class RecordingTransport(WrappedTransport):
    """Passes requests on to `inner` and records what comes back in `path`, which is written anew.

    `header` describes the run: task, model, files, context. Raises ConfigurationError when the file cannot be
    written.
    """

    def __init__(
        self, inner: Transport, path: Path, header: Mapping[str, Any], settings: Settings | None = None
    ) -> None:
        self.inner, self.path = inner, Path(path)
        self._scrub = redactor(settings)
        self._known: set[str] = set()
        try:
            self.path.write_text("", encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"cannot write the recording {path}: {error.strerror}") from error
        self._write([{"forethought_recording": FORMAT, **header}])

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply of `inner`, recorded. A call that fails is not recorded."""
        got = await self.inner.send(request)
        question = logical(request, self._scrub)
        lines: list[dict[str, Any]] = []
        line = {
            "key": digest(question),
            **question,
            "messages": [{**m, "text": self._part(m["text"], lines)} for m in question["messages"]],
            "schema": self._part(question["schema"], lines),
            "functions": self._part(question["functions"], lines),
            "reply": {
                "text": got.text,
                "calls": [asdict(call) for call in got.calls],
                "finish_reason": got.finish_reason,
            },
            "usage": {
                "input_tokens": got.input_tokens,
                "output_tokens": got.output_tokens,
                "cached_tokens": got.cached_tokens,
                "usd": got.usd,
                **({"saved_tokens": got.saved_tokens} if got.saved_tokens else {}),
                **({"estimated": True} if got.estimated else {}),
            },
            "model": got.model or request.model,
        }
        self._write([*lines, line])
        return got

    def _part(self, value: Any, lines: list[dict[str, Any]]) -> Any:
        """`value`, or its name where it is long; a first use adds its line."""
        if len(value if isinstance(value, str) else dumps(value)) < _LONG:
            return value
        name = digest(value)
        if name not in self._known:
            self._known.add(name)
            lines.append({"part": name, "value": value})
        return {"part": name}

    def _write(self, lines: list[dict[str, Any]]) -> None:
        text = "".join(
            json.dumps(redact_json(line, self._scrub), ensure_ascii=False) + "\n" for line in lines
        )
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
