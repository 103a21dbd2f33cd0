"""The lessons of one user and one namespace in a LangGraph Store: found, added, counted and dropped."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from langgraph.store.base import BaseStore

from forethought.lessons.ranking import ALIKE, VOUCHED, covered, rank, similarity
from forethought.lessons.record import FLOOR, Lesson

LOCAL_USER = "local"
"""Whose lessons they are where nobody has to say who they are."""
MOST = 500
"""Lessons of one namespace that are looked at: the newest."""
_ROOT = "lessons"
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_@-]{0,63}")


def namespace_of(user: str, collection: str) -> tuple[str, ...]:
    """The Store's namespace."""
    return (_ROOT, label_of(user), collection)


def label_of(user: str) -> str:
    """A user's name as a label of a namespace or a folder; one that cannot be is replaced by its hash."""
    return user if _LABEL.fullmatch(user) else "user-" + hashlib.sha256(user.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class LessonBook:
    """The lessons under `namespace`. Two tasks that end at once may lose one count of each other's."""

    store: BaseStore
    namespace: tuple[str, ...]

    async def all(self) -> list[Lesson]:
        """All of them, the oldest first."""
        return sorted(
            (lesson for lesson, _ in await self._search(None)), key=lambda lesson: (lesson.made, lesson.id)
        )

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
        found = [
            (lesson, score)
            for lesson, score in await self._search(query)
            if not lesson.quarantined and lesson.strength(now) >= FLOOR
        ]
        if not any(score is not None for _, score in found):
            ranked = await asyncio.to_thread(rank, query, [lesson.text() for lesson, _ in found])
            found = [(found[at][0], score) for at, score in ranked]
        weighed = [(lesson, (score or 0.0) * lesson.strength(now)) for lesson, score in found]
        weighed.sort(key=lambda item: (-item[1], item[0].id))
        return [lesson for lesson, _ in weighed[:most]]

    async def learn(self, new: Lesson, *, passed: bool, now: datetime) -> Lesson:
        """Keep what a task has taught, and return the lesson that now stands for it.

        One that says the same is renewed instead, and a quarantined one gains a witness if the task `passed`.
        What is free of outside text takes a quarantined one's place at once. What is not must say all that a
        quarantined one says: else honest lessons would vouch for what somebody has added to their words.
        """
        known = await self.all()
        if own := next((old for old in known if old.id == new.id and _same(old, new)), None):
            return own  # the task has taught it before it was broken off
        if new.outside:
            known = [old for old in known if not old.quarantined or vouches(new, old)]
        old = await asyncio.to_thread(alike, new, known)
        if old is None:
            await self.put(new)
            return new
        if old.quarantined and not new.outside:
            await self.drop(old.id)
            lesson = new.model_copy(update={"found": old.found + 1})
        else:
            lesson = old.found_again(new, passed=passed, now=now)
        await self.put(lesson)
        return lesson

    async def count_outcome(self, keys: Sequence[str], mark: str, *, passed: bool, now: datetime) -> None:
        """Count the outcome of the task `mark` for the lessons that it was shown."""
        for key in keys:
            lesson = await self.get(key)
            if lesson is not None:
                await self.put(lesson.with_outcome(mark, passed=passed, now=now))

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


def vouches(new: Lesson, old: Lesson) -> bool:
    """Whether `new` says (nearly) everything that `old` does."""
    return covered(_text(old), _text(new)) >= VOUCHED


def _same(one: Lesson, other: Lesson) -> bool:
    return _text(one) == _text(other) and sorted(one.outside) == sorted(other.outside)


def _text(lesson: Lesson) -> str:
    return f"{lesson.failed} {lesson.why} {lesson.worked}"
