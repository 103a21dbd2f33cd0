"""Keep a person's words as advice: one model call words it, and the next task sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.experience.advice import Advice, advice_id, name_of, now_utc
from forethought.experience.book import Book
from forethought.models import Models
from forethought.models.types import ModelError, reply_spec
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import WordedAdvice
from forethought.redaction import scrubber
from forethought.state.context import Context
from forethought.text import cut, one_line

if TYPE_CHECKING:
    from forethought.app.threads.thread import Thread

_TASK_CHARS = 2_000
_WORDS_CHARS = 1_000


@dataclass(frozen=True)
class Said:
    """A person's words, and the task that they are about."""

    words: str
    thread: str = ""
    number: int = 0
    task: str = ""
    answer: str = ""


async def teach(said: Said, book: Book, models: Models, context: Context) -> Advice:
    """Keep a person's words, in place of the earlier advice that they contradict.

    Args:
        said: The person's words. Said again about the same task, they give the same advice.
        book: The person's advice.
        models: For one call that words the advice. If it fails, the person's words are the advice.
        context: The run's choices; the planner's model is asked.

    Returns:
        The advice, adopted.
    """
    scrub = scrubber(models.settings)
    new = spoken(said, scrub)
    words = new.instead
    known = [advice for advice in await book.about(f"{words} {said.task}") if advice.id != new.id]
    worded = await _worded(words, said, known, models, context)
    if worded is None:
        return await book.replace([], new)
    parts = {name: scrub(value) for name, value in worded.model_dump(exclude={"replaces"}).items()}
    labels = {f"k{n}": advice.id for n, advice in enumerate(known, start=1)}
    replaced = [labels[label] for label in worded.replaces if label in labels]
    return await book.replace(replaced, Advice.model_validate({**new.model_dump(), **parts}))


def spoken(said: Said, scrub: Callable[[str], str]) -> Advice:
    """A person's words, as they are, as an advice."""
    words = one_line(scrub(said.words), _WORDS_CHARS)
    return Advice(
        id=advice_id(said.thread, said.number, words),
        name=name_of(words),
        applies=one_line(f"{words} {scrub(said.task)}", _WORDS_CHARS),
        instead=words,
        source="person",
        thread=said.thread,
        number=said.number,
        made=now_utc(),
    )


async def correct(said: Said, book: Book, models: Models, context: Context) -> Advice:
    """Keep what a person says is wrong with an answer, and count harm for the advice that changed it."""
    await book.judge_wrong(said.thread, said.number)
    return await teach(said, book, models, context)


def again(why: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The graph's input that has the last task answered once more, with the person's words."""
    said = f"The last answer to this task was wrong. The person says: {why}"
    return {"task": values["progress"]["task_text"], "guidance": [said]}


def said_of(words: str, thread: str, values: Mapping[str, Any]) -> Said:
    """What a person says about the last answer of a thread with these values."""
    progress = values["progress"]
    return Said(words, thread, progress["task"], progress["task_text"], values.get("answer") or "")


async def keep(words: str, thread: Thread, values: Mapping[str, Any] | None = None) -> Advice:
    """Keep a person's words in a thread, about its last answer if the `values` of that are given."""
    from forethought.app.experience import open_own_book

    models = Models(thread.settings)
    async with open_own_book(thread.settings, thread.context.experience_namespace) as book:
        if values is None:
            return await teach(Said(words, thread.id), book, models, thread.context)
        return await correct(said_of(words, thread.id, values), book, models, thread.context)


async def _worded(
    words: str, said: Said, known: Sequence[Advice], models: Models, context: Context
) -> WordedAdvice | None:
    """The advice as a model words it; None if no valid reply came."""
    try:
        result = await models.ask(
            role="retrospective",
            model=context.model_for("planner"),
            fallback=context.fallback_model,
            messages=prompt_messages(
                "word_advice",
                words=words,
                task=cut(said.task, _TASK_CHARS),
                answer=cut(said.answer, _TASK_CHARS),
                known=[advice.instead for advice in known],
            ),
            reply=reply_spec(WordedAdvice),
        )
    except ModelError:
        return None
    return result.reply
