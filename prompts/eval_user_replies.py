"""The types of the replies of those who stand around an evaluated agent: its customer, and who checks
statements about the conversation. Field names are a contract, as in `replies`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from forethought.prompts.replies import Reply, Text, _no_null


class CustomerReply(Reply):
    """The customer's next message (tau-bench, section 3: the simulated user)."""

    thought: Text = Field("", description="What was said or asked, and what is still to be said or got.")
    state: Literal["continues", "done", "transferred", "stuck"] = Field(
        description="Whether the conversation goes on, and if not, why."
    )
    message: Text = Field("", description="What the customer writes; may be empty if the conversation ends.")

    @model_validator(mode="after")
    def _says_something(self) -> CustomerReply:
        if self.state == "continues" and not self.message:
            raise ValueError("message is empty, although the conversation continues")
        return self


class AssertionVerdict(Reply):
    """Whether a statement about the conversation holds."""

    number: int
    reasoning: Text = Field("", description="What in the conversation decides it.")
    holds: bool


class AssertionVerdicts(Reply):
    """tau2's natural-language assertions, judged one by one."""

    verdicts: Annotated[list[AssertionVerdict], BeforeValidator(_no_null)] = Field(default_factory=list)
