"""The answer while a model writes it: its text is sent token by token, out of the JSON of the reply.

Only what will stand is sent. A reply's fields come in their order, so the first token waits for what precedes
the answer (its checks, the plan that must be empty) and for nothing else. An answer whose author may still
name defects after it is sent once it has passed. Rarely a reply breaks off or is sent back after its answer
has begun: then what was sent is withdrawn (the custom event `withdrawn`, with the message's id), and never
stands in the state.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from pydantic_core import from_json

from forethought.models.types import Listener
from forethought.nodes.support.services import Turn
from forethought.nodes.support.spoken import SpokenMessage, stream_callbacks

Json = dict[str, Any]
_UNSETTLED = re.compile(r"\s*[!-~]*\s*\Z")
"""What may still become a link, which is not shown as it is, and white space that the end may lose."""
_GROWTH = 1.01
"""What a reply has grown by when it is read again: each reading begins at its beginning."""


class AnswerStream:
    """The answer of one node's turn.

    `will_stand` tells of a reply that is complete up to its answer whether this will be the task's, however
    the reply ends; `shown` makes the text fit to be shown.
    """

    def __init__(self, turn: Turn, will_stand: Callable[[Json], bool], shown: Callable[[str], str]) -> None:
        self._turn, self._will_stand, self._shown = turn, will_stand, shown
        self._callbacks = stream_callbacks()
        self._message: SpokenMessage | None = None
        self._heard = 0

    @property
    def listener(self) -> Listener | None:
        """What hears the model's replies; None where nobody streams messages."""
        return self._hear if self._callbacks else None

    async def finish(self, update: Json) -> Json:
        """The node's update, whose last message gets the id under which its text was sent."""
        message = self._message
        if message is None:
            return update
        *before, last = update.get("messages") or [None]
        if not isinstance(last, AIMessage) or not last.text.startswith(message.text):
            await self._withdraw(message)
            return update
        await message.continue_to(str(last.text))
        await message.end()
        return {**update, "messages": [*before, last.model_copy(update={"id": message.id})]}

    async def _hear(self, text: str) -> None:
        """Send what a reply that has come so far, up to `text`, adds to the answer."""
        if self._heard <= len(text) < self._heard * _GROWTH:
            return
        self._heard = len(text)
        reply = _reply_so_far(text)
        answer = reply.get("answer")
        shown = ""
        if isinstance(answer, str) and self._will_stand(reply):
            shown = self._shown(_UNSETTLED.sub("", answer.lstrip()))
        if self._message and not shown.startswith(self._message.text):
            await self._withdraw(self._message)
        if shown and self._message is None and self._callbacks:
            self._message = await SpokenMessage.begin(self._callbacks, str(uuid4()))
        if self._message:
            await self._message.continue_to(shown)

    async def _withdraw(self, message: SpokenMessage) -> None:
        await message.end()
        self._turn.emit("withdrawn", id=message.id)
        self._message = None


def _reply_so_far(text: str) -> Json:
    """The fields of a JSON object that is still being written, the last one as far as it has come."""
    begin = text.find("{")
    try:
        reply = from_json(text[begin:], allow_partial="trailing-strings") if begin >= 0 else {}
    except ValueError:
        return {}
    return reply if isinstance(reply, dict) else {}
