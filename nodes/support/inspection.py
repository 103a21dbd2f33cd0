"""A tool's questions about a document or an image, put to the run's models (PreFlect A.2)."""

from __future__ import annotations

from forethought.models.allowance import Allowance
from forethought.models.types import Image, Message, ReplayError, ReplyError, Usage, reply_spec
from forethought.nodes.support.services import Turn
from forethought.prompts.render import render
from forethought.prompts.replies import DocumentAnswer
from forethought.state.context import Role
from forethought.tools.base import ToolError

ENOUGH = "Go on with what was found."


class Inspection:
    """The inspector of one step's calls, and what it cost: known as it is spent, also where the call that
    asked is cancelled. Beyond the step's allowance no model is asked.

    A model that gives no answer is a failure of the tool. A recording that lacks the answer is none: it would
    be lost among the tool's failures, so it is kept in `missing` for the executor to raise.
    """

    def __init__(self, turn: Turn, allowance: Allowance) -> None:
        self.allowance = allowance
        self.missing: ReplayError | None = None
        self._turn = turn

    @property
    def spent(self) -> list[Usage]:
        """What each question cost."""
        return self.allowance.used

    @property
    def paid(self) -> list[Usage]:
        """What the tool paid for by itself, such as a transcription."""
        return self.allowance.paid

    async def __call__(self, question: str, text: str, name: str) -> DocumentAnswer:
        """The answer to `question` from `text`. Raises ToolError where the model has none."""
        system, user = render("inspector", question=question, text=text, name=name)
        messages = [Message("system", system), Message("user", user)]
        return await self._ask("tool", messages, name, "Read it by part.")

    async def look(self, question: str, image: Image, name: str) -> DocumentAnswer:
        """The answer to `question` ('': a description) from an image. Raises ToolError where there is
        none.
        """
        system, user = render("look", question=question, name=name)
        messages = [Message("system", system), Message("user", user, (image,))]
        hint = "Go on without the picture, or ask the user what it shows."
        return await self._ask("vision", messages, name, hint)

    async def _ask(self, model: Role, messages: list[Message], name: str, hint: str) -> DocumentAnswer:
        if over := self.allowance.spent():
            raise ToolError(f"no model is asked about {name}: {beyond(over)}", cause="limit", hint=ENOUGH)
        try:
            result = await self._turn.ask(
                "inspector", messages, reply_spec(DocumentAnswer), self.allowance, model=model, lenient=True
            )
        except ReplayError as error:
            self.missing = error
            raise
        if result.reply is None:
            said, cause = result.problem, "tool" if isinstance(result.error, ReplyError) else "transport"
            if over := self.allowance.spent():
                said, cause, hint = f"{said}; {beyond(over)}", "limit", ENOUGH
            raise ToolError(f"no valid answer about {name}: {said}", cause=cause, hint=hint) from result.error
        return result.reply


def beyond(budget: str) -> str:
    """Why a call is not made."""
    return f"what this step may use of the budget of {budget} is spent"
