"""Keep what a person says as advice: one model call words it, and the next task sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forethought.experience.advice import Advice, advice_id, name_of, now_utc
from forethought.experience.book import Book
from forethought.models import Models
from forethought.models.types import ModelError, reply_spec
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import WordedAdvice
from forethought.redaction import scrubber
from forethought.state.context import Context
from forethought.text import cut, one_line

_TASK_CHARS = 2_000
_WORDS_CHARS = 1_000


@dataclass(frozen=True)
class Said:
    """What a person said, and about which task of which thread."""

    words: str
    thread: str = ""
    number: int = 0
    task: str = ""
    answer: str = ""


async def teach(said: Said, book: Book, models: Models, context: Context) -> Advice:
    """Keep what a person said, in place of the earlier advice that it contradicts.

    Args:
        said: The person's words. Said again about the same task, they give the same advice.
        book: The person's advice.
        models: For one call that words the advice. If it fails, the person's words are the advice.
        context: The run's choices; the planner's model is asked.

    Returns:
        The advice, adopted.
    """
    scrub = scrubber(models.settings)
    words = one_line(scrub(said.words), _WORDS_CHARS)
    new = Advice(
        id=advice_id(said.thread, said.number, words),
        name=name_of(words),
        applies=one_line(f"{words} {scrub(said.task)}", _WORDS_CHARS),
        instead=words,
        source="person",
        thread=said.thread,
        number=said.number,
        made=now_utc(),
    )
    found = await book.relevant(f"{words} {said.task}", 5, said.thread)
    known = [advice for advice in found if advice.id != new.id]
    worded = await _worded(words, said, known, models, context)
    if worded is None:
        return await book.replace([], new)
    parts = {name: scrub(value) for name, value in worded.model_dump(exclude={"replaces"}).items()}
    labels = {f"k{n}": advice.id for n, advice in enumerate(known, start=1)}
    replaced = [labels[label] for label in worded.replaces if label in labels]
    return await book.replace(replaced, Advice.model_validate({**new.model_dump(), **parts}))


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
