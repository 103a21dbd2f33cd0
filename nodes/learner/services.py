"""What the learner's nodes work with besides state and context."""

from __future__ import annotations

from dataclasses import dataclass, field

from forethought.experience.advice import Advice
from forethought.experience.book import Book
from forethought.knowledge.error_taxonomy import Taxonomy, load_taxonomy
from forethought.models.allowance import total
from forethought.models.types import Usage
from forethought.nodes.learner.lab import Lab
from forethought.nodes.support.offline import OfflineServices
from forethought.state.learner import LearnerContext, LearnerState


@dataclass(frozen=True)
class LearnerServices(OfflineServices[LearnerContext]):
    """The models, the threads, and the book in which advice is kept."""

    taxonomy: Taxonomy = field(default_factory=load_taxonomy)
    lab: Lab = None  # type: ignore[assignment]
    book: Book = None  # type: ignore[assignment]

    async def own_advice(self, state: LearnerState) -> Advice | None:
        """The advice that this task made before: a person's newest correction, or what was learned."""
        of_task = [
            advice
            for advice in await self.book.all()
            if (advice.thread, advice.number) == (state["thread_id"], state["number"])
        ]
        said = [advice for advice in of_task if advice.source == "person" and advice.in_use]
        return [*of_task, *said][-1] if of_task else None


def calls_left(state: LearnerState, context: LearnerContext, *now: Usage) -> int:
    """How many model calls the learning may still make."""
    return context.max_calls - total(*state.get("usage", {}).values(), *now)["calls"]
