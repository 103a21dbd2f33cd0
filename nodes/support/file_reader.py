"""The model that reads many files for the tool `read_each`, within the step's share of the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forethought.models.allowance import Allowance, charged_tokens
from forethought.models.types import ConfigurationError, ReplayError, ReplyError
from forethought.nodes.support.services import Turn
from forethought.prompts.render import prompt_messages
from forethought.prompts.rows import rows_spec
from forethought.sizes import BYTES_PER_TOKEN, extent
from forethought.state.agent import Proposal
from forethought.tools.base import ToolError
from forethought.tools.each.fields import FieldSpec

_REPLY_TOKENS = 80
"""Of a field of a document, with its quote."""
_KEPT_BACK = 0.1
"""The share of the step's allowance that a reading leaves for later steps."""
_HINT = "Narrow the files, or raise max_tokens: files that were read are not paid for again."


class FileReader:
    """See `ReadQuestion`. `lacks` takes the error of a recording without a reply: the executor raises it."""

    def __init__(
        self,
        turn: Turn,
        allowance: Allowance,
        proposal: Proposal,
        lacks: Callable[[ReplayError], None],
    ) -> None:
        context = turn.context
        self.models = (context.model_for("reader"), context.model_for("tool"))
        info = turn.runtime.execution_info
        self.call = f"{info.thread_id if info else None} {proposal['n']}"
        self.most_files = context.max_read_each_files
        self._lacks = lacks
        self._turn, self._allowance, self._proposal = turn, allowance, proposal
        self._under_way = 0
        """Tokens that the calls under way may take."""
        self._room = asyncio.Condition()

    async def __call__(
        self, question: str, fields: Sequence[FieldSpec], texts: Sequence[tuple[str, str]], again: bool
    ) -> list[Mapping[str, Any] | None]:
        """See `ReadQuestion`."""
        messages = prompt_messages("read_each", question=question, fields=fields, texts=texts)
        size = sum(extent(message.text) for message in messages) // BYTES_PER_TOKEN
        size += _REPLY_TOKENS * len(fields) * len(texts)
        await self._reserve(size)
        try:
            result = await self._turn.ask(
                "reader", messages, rows_spec(fields, len(texts)), self._allowance,
                model="tool" if again else "reader", lenient=True,
            )  # fmt: skip
        except ReplayError as error:
            self._lacks(error)
            raise
        finally:
            async with self._room:
                self._under_way -= size
                self._room.notify_all()
        if result.reply is None:
            stops = isinstance(result.error, ConfigurationError)
            cause = (
                "unavailable" if stops else "tool" if isinstance(result.error, ReplyError) else "transport"
            )
            raise ToolError(result.problem, cause=cause) from result.error
        return [*result.reply]

    async def _reserve(self, size: int) -> None:
        """Wait until a call of so many tokens keeps within the budget. Raises ToolError if none can."""
        allowed = self._allowance

        def has_room() -> bool:
            used = sum(map(charged_tokens, [*allowed.used, *allowed.paid]))
            return used + self._under_way + size <= allowed.tokens * (1 - _KEPT_BACK)

        async with self._room:
            await self._room.wait_for(lambda: has_room() or not self._under_way)
            if over := allowed.spent() or ("" if has_room() else "tokens"):
                message = f"this step's share of the {over} budget is spent"
                raise ToolError(message, cause="limit", hint=_HINT)
            self._under_way += size

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """See `ReadQuestion`."""
        return self._turn.services.models.price(self.models[0], input_tokens, output_tokens)

    def progress(self, done: int, total: int, doubtful: int) -> None:
        """See `ReadQuestion`."""
        named = {"n": self._proposal["n"], "subtask": self._proposal["subtask"]}
        self._turn.emit("reading", **named, done=done, total=total, doubtful=doubtful)
