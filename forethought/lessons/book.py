"""The lessons of one user and one namespace in a LangGraph Store: found, added, counted and dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from langgraph.store.base import BaseStore

from forethought.experience.ranking import ALIKE, rank, similarity
from forethought.lessons.record import FLOOR, Lesson
from forethought.trajectories.questions import normalised
from forethought.users import label_of

MOST = 500
"""Maximum lessons of a namespace that are ranked: the newest."""
_ROOT = "lessons"


def namespace_of(user: str, collection: str) -> tuple[str, ...]:
    """The Store's namespace."""
    return (_ROOT, label_of(user), collection)


async def lessons_of(store: BaseStore, user: str) -> dict[str, list[Lesson]]:
    """A user's lessons by collection, at most 500 in all."""
    found: dict[str, list[Lesson]] = {}
    for item in await store.asearch((_ROOT, label_of(user)), limit=MOST):
        found.setdefault(item.namespace[-1], []).append(Lesson.model_validate(item.value))
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class LessonBook:
    """The lessons under `namespace`. Two tasks that end at once may lose one count of each other's."""

    store: BaseStore
    namespace: tuple[str, ...]

    async def all(self) -> list[Lesson]:
        """All of them, the oldest first."""
        lessons = [lesson for lesson, _ in await self._search(None)]
        return sorted(lessons, key=lambda lesson: (lesson.made, lesson.id))

    async def get(self, key: str) -> Lesson | None:
        """The lesson, or None."""
        item = await self.store.aget(self.namespace, key)
        return Lesson.model_validate(item.value) if item else None

    async def put(self, lesson: Lesson) -> None:
        """Keep it, in place of what stood under its id."""
        await self.store.aput(self.namespace, lesson.id, lesson.model_dump(mode="json"))

    async def drop(self, key: str) -> None:
        """Forget it."""
        await self.store.adelete(self.namespace, key)

    async def relevant(self, query: str, most: int, now: datetime) -> list[Lesson]:
        """At most `most` lessons that fit `query`, best first; none that is quarantined or has faded.

        By the Store's embeddings where it has them, else by BM25; either way weighed with the strength.
        """
        scored = [
            (lesson, score)
            for lesson, score in await self._search(query)
            if not lesson.quarantined and lesson.strength(now) >= FLOOR
        ]
        if not any(score is not None for _, score in scored):
            ranked = await asyncio.to_thread(rank, query, [lesson.text() for lesson, _ in scored])
            scored = [(scored[at][0], score) for at, score in ranked]
        weighed = [(lesson, (score or 0.0) * lesson.strength(now)) for lesson, score in scored]
        weighed.sort(key=lambda item: (-item[1], item[0].id))
        return [lesson for lesson, _ in weighed[:most]]

    async def learn(self, new: Lesson) -> Lesson:
        """Keep what a task has taught, and return the lesson that now stands for it.

        One that says the same is renewed instead, in its own words; but a quarantined one gives way to one
        that is free of outside text.
        """
        old = await asyncio.to_thread(alike, new, await self.all())
        lesson = new
        if old is not None:
            if old.quarantined and not new.quarantined:
                await self.drop(old.id)
            else:
                lesson = old
            lesson = lesson.model_copy(update={"found": old.found + 1, "renewed": new.made})
        await self.put(lesson)
        return lesson

    async def count_outcome(self, keys: Sequence[str], now: datetime, *, passed: bool) -> None:
        """Count the outcome of a task for the lessons that it was shown."""
        for key in keys:
            lesson = await self.get(key)
            if lesson is not None:
                await self.put(lesson.with_outcome(now, passed=passed))

    async def sweep(self, now: datetime) -> list[str]:
        """Drop what has faded under the floor; its ids."""
        faded = [lesson.id for lesson in await self.all() if lesson.strength(now) < FLOOR]
        for key in faded:
            await self.drop(key)
        return faded

    async def _search(self, query: str | None) -> list[tuple[Lesson, float | None]]:
        items = await self.store.asearch(self.namespace, query=query, limit=MOST)
        return [(Lesson.model_validate(item.value), item.score) for item in items]


def alike(new: Lesson, lessons: Sequence[Lesson]) -> Lesson | None:
    """The lesson that says what `new` says, the most similar one; not its own earlier form."""
    text = _text(new)
    scored = [(similarity(text, _text(old)), old) for old in lessons if old.id != new.id]
    best = max(scored, key=lambda item: item[0], default=None)
    return best[1] if best and best[0] >= ALIKE else None


def proposed_errors(lessons: Sequence[Lesson], known: Collection[str]) -> dict[str, list[Lesson]]:
    """Lessons by the planning error that they name and `known` lacks, first what most tasks named."""
    groups: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        name = error_name(lesson.error_type)
        if name and name not in map(error_name, known):
            groups.setdefault(name, []).append(lesson)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


def error_name(text: str) -> str:
    """An error type as names are compared: `Shallow check` and shallow_check are one."""
    return "_".join(normalised(text.replace("_", " ")).split())


def _text(lesson: Lesson) -> str:
    return f"{lesson.failed} {lesson.why} {lesson.worked}"
