"""How much of what was read a prompt shows: every figure, as a share of the model's context window.

What a tool returns is at most an observation, and what tools cut documents into is a part, which fits one. A
prompt shows observations, results and what models wrote within shares of the window that, with the prompt's
fixed text and the reply, fill it (tests/test_sizes.py holds the figures together).
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW_TOKENS = 128_000
"""The context window where nobody tells it. Of a larger one no more is used: every call would pay for it."""
LEAST_WINDOW_TOKENS = 4_000
"""The smallest window that the lean prompts fit."""
LEAST_FULL_TOKENS = 8_000
"""The smallest window that the full prompts fit."""
FIXED_TOKENS = 4_000
"""The longest prompt of a role without anything that was read, and its reply's schema."""
LEAN_FIXED_TOKENS = 1_200
"""The same of a lean prompt."""
REPLY_TOKENS = 1_000
LEAN_REPLY_TOKENS = 500
ANSWER_TOKENS = 3_000
"""The answer and its prompt without what was read: kept back of the token budget."""
BYTES_PER_TOKEN = 3
"""Of text in any script, rather too few than too many."""
LOOKED = 0.15
"""The share of the first look at the files in what the window has room for, up to the usual part."""
SEEN, RESULTS, WRITTEN = 0.393, 0.36, 0.08
"""Shares of the rest: steps with their observations, results of others, each kind of what models wrote."""
SMALL = 0.02
"""The share up to which steps are whole even if somebody has digested them."""
WRITTEN_KINDS = 3
"""Kinds of what models wrote in one prompt: the plan or the memories, rounds, earlier tasks."""
WHOLE = 2 / 3
"""The share of the steps' room that the newest keep whole where not all of them fit."""
LONGEST_OBSERVATION = 20_000
"""Characters that a tool returns at most, however large the window."""
PART = 0.6
"""A part's share of an observation: what a tool says besides it, and repeats in it, fits too."""
PASSAGES = 0.9
"""The same for passages and transcripts, which repeat nothing."""
NOTE = 200
"""Characters of a tool's note beside passages, at most."""
MOST_INSPECTED = 120_000
"""Characters of a document or transcript that one question is put to: some two hours of speech."""


def extent(text: str) -> int:
    """What `text` takes of a share: its bytes in UTF-8, of which a token has about as many in any script."""
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


@dataclass(frozen=True)
class Sizes:
    """The figures for a window of so many tokens."""

    window: int = WINDOW_TOKENS
    lean: bool = False

    @property
    def material(self) -> int:
        """Bytes of all that a prompt shows besides its fixed text."""
        kept = LEAN_FIXED_TOKENS + LEAN_REPLY_TOKENS if self.lean else FIXED_TOKENS + REPLY_TOKENS
        least = LEAST_WINDOW_TOKENS if self.lean else LEAST_FULL_TOKENS
        return (max(self.window, least) - kept) * BYTES_PER_TOKEN

    @property
    def looked(self) -> int:
        """Bytes of the first look at the files: at most the usual part, since every call pays for it."""
        return min(int(LONGEST_OBSERVATION * PART), int(self.material * LOOKED))

    @property
    def rest(self) -> int:
        """Bytes of what comes after the first look."""
        return self.material - self.looked

    @property
    def seen(self) -> int:
        """Bytes of steps with their observations."""
        return int(self.rest * SEEN)

    @property
    def results(self) -> int:
        """Bytes of finished subtasks' results."""
        return int(self.rest * RESULTS)

    @property
    def answer(self) -> int:
        """Bytes of steps in the answer agent's prompt, in which results stand as steps."""
        return self.seen + self.results

    @property
    def small(self) -> int:
        """Bytes of steps that are whole even if somebody has digested them."""
        return int(self.material * SMALL)

    @property
    def written(self) -> int:
        """Bytes of one kind of what models wrote."""
        return int(self.rest * WRITTEN)

    @property
    def observation(self) -> int:
        """Characters of the longest observation: the newest is whole in every prompt."""
        return min(LONGEST_OBSERVATION, int(self.seen * WHOLE), self.results)

    @property
    def part(self) -> int:
        """Characters of a part of a document."""
        return int(self.observation * PART)

    @property
    def passages(self) -> int:
        """Characters of the passages or the stretch of a transcript that one observation shows."""
        return min(int(self.observation * PASSAGES), self.observation - NOTE)

    @property
    def inspected(self) -> int:
        """Characters of a document that one question is put to."""
        return min(MOST_INSPECTED, self.material)
