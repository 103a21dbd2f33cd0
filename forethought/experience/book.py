"""The advice of one user and one namespace in a LangGraph Store: found, added, replaced and counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from langgraph.store.base import BaseStore
from pydantic import ValidationError

from forethought.experience.advice import Advice, Outcome, now_utc, task_key
from forethought.experience.ranking import rank
from forethought.users import label_of

MOST = 500
"""Maximum advices of a namespace that are ranked: the newest."""
ROOT = "experience"
_NEAR = 0.6
"""Share of the best score from which advice is shown. One common word is enough, because a short task such as
"What were the sales of June?" has no other. Of 120 tasks of `benchmarks/stream`, 118 are then shown their
advice, and 94 if two words are needed."""


def namespace_of(user: str, collection: str) -> tuple[str, ...]:
    """The Store's namespace."""
    return (ROOT, label_of(user), collection)


async def advice_of(store: BaseStore, user: str) -> dict[str, list[Advice]]:
    """A user's advice by collection, at most 500 in all."""
    found: dict[str, list[Advice]] = {}
    for item in await store.asearch((ROOT, label_of(user)), limit=MOST):
        found.setdefault(item.namespace[-1], []).extend(advice_in([item.value]))
    return dict(sorted(found.items()))


def advice_in(values: Iterable[Any]) -> list[Advice]:
    """The advice among stored values. A server's client may have stored other things beside it."""
    found = []
    for value in values:
        with suppress(ValidationError):
            found.append(Advice.model_validate(value))
    return found


@dataclass(frozen=True)
class Book:
    """The advice under `namespace`. Two tasks that end at once may lose one count of each other's."""

    store: BaseStore
    namespace: tuple[str, ...]

    async def all(self) -> list[Advice]:
        """All of it, the oldest first."""
        found = [advice for advice, _ in await self._search(None)]
        return sorted(found, key=lambda advice: (advice.made, advice.id))

    async def get(self, key: str) -> Advice | None:
        """The advice, or None."""
        item = await self.store.aget(self.namespace, key)
        return next(iter(advice_in([item.value] if item else [])), None)

    async def put(self, advice: Advice) -> None:
        """Keep the advice. It overwrites an advice of the same id."""
        await self.store.aput(self.namespace, advice.id, advice.model_dump(mode="json"))

    async def drop(self, key: str) -> Advice | None:
        """Stop to use an advice. It stays as history, because later advice may name it."""
        advice = await self.get(key)
        if advice is not None:
            await self.put(advice := advice.model_copy(update={"state": "dropped"}))
        return advice

    async def relevant(self, query: str, most: int = 5, thread: str = "") -> list[Advice]:
        """Find the advice in use that fits a task.

        Args:
            query: The task's words.
            most: Maximum number of advices.
            thread: Id of the thread. A person's words in it come first, even if they do not fit.

        Returns:
            The advice, best first: by the Store's embeddings if it has them, else by BM25.
        """
        scored = [(advice, score) for advice, score in await self._search(query) if advice.in_use]
        own = [a for a, _ in scored if thread and a.thread == thread and a.source == "person"]
        own.sort(key=lambda advice: advice.made, reverse=True)
        if all(score is None for _, score in scored):
            texts = [_retrieval_text(advice) for advice, _ in scored]
            ranked = await asyncio.to_thread(rank, query, texts, 1)
            scored = [(scored[at][0], score) for at, score in ranked if score >= _NEAR * ranked[0][1]]
        scored.sort(key=lambda item: (-(item[1] or 0.0), item[0].id))
        chosen = {advice.id: advice for advice in [*own, *(advice for advice, _ in scored)]}
        return list(chosen.values())[:most]

    async def about(self, text: str, most: int = 5) -> list[Advice]:
        """Find the advice in use that shares a word with a text: a person may be contradicting it."""
        found = [advice for advice in await self.all() if advice.in_use]
        texts = [f"{_retrieval_text(advice)} {advice.instead}" for advice in found]
        ranked = await asyncio.to_thread(rank, text, texts, 1)
        return [found[at] for at, _ in ranked[:most]]

    async def replace(self, old: Sequence[str], new: Advice) -> Advice:
        """Keep `new` in place of the advices `old`, which stay as history."""
        replaced = [advice for key in old if key != new.id and (advice := await self.get(key))]
        new = new.model_copy(update={"replaces": [*new.replaces, *(advice.id for advice in replaced)]})
        await self.put(new)
        for advice in replaced:
            await self.put(advice.model_copy(update={"state": "replaced", "replaced_by": new.id}))
        return new

    async def count(self, thread: str, number: int, outcomes: Mapping[str, Outcome]) -> list[Advice]:
        """Count the outcome of a task for each advice that the task was shown.

        Args:
            thread: Id of the thread.
            number: Number of the task in the thread. A task counts once, with its last outcome.
            outcomes: By id of the advice.

        Returns:
            The advices that this retired.
        """
        retired, now = [], now_utc()
        for key, outcome in outcomes.items():
            if (old := await self.get(key)) is not None:
                new = old.with_outcome(task_key(thread, number), outcome, now)
                await self.put(new)
                retired += [new] if new.state != old.state else []
        return retired

    async def judge_wrong(self, thread: str, number: int) -> list[Advice]:
        """Count harm for the advice that changed a task's answer, which a person called wrong."""
        task = task_key(thread, number)
        applied = [
            advice.id for advice in await self.all() if advice.tasks.get(task) in ("helped", "applied")
        ]
        return await self.count(thread, number, dict.fromkeys(applied, "harmed"))

    async def _search(self, query: str | None) -> list[tuple[Advice, float | None]]:
        items = await self.store.asearch(self.namespace, query=query, limit=MOST)
        return [(advice, item.score) for item in items for advice in advice_in([item.value])]


def _retrieval_text(advice: Advice) -> str:
    return f"{advice.name.replace('_', ' ')} {advice.applies}"
