"""Near-duplicates out of the rows: the same try told twice would count twice in the loss.

Two rows are near-duplicates if both their reflections and their inputs are alike. Like reflections on
different tries stay: that errors recur is what the model is to learn (SAMULE 3.2.1, inter-task).
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from forethought.training.records import ReflectionRecord


def without_near_duplicates(
    records: Sequence[ReflectionRecord], similar: float = 0.9
) -> tuple[list[ReflectionRecord], list[tuple[str, str]]]:
    """The records, each first of its kind, and what was left out: (trajectory id, that of the one like it).

    `similar`, above 0 and at most 1, is the share of text from which on two texts are alike: of characters
    for reflections, of words for inputs.
    """
    kept: list[ReflectionRecord] = []
    said: list[str] = []
    words: list[list[str]] = []
    dropped = []
    for record in records:
        own = record.prompt()[1].split()
        likely = process.extract_iter(
            record.reflection, said, scorer=fuzz.ratio, score_cutoff=100 * similar, processor=None
        )
        twin = next((at for _, _, at in likely if _alike(own, words[at], similar)), None)
        if twin is not None:
            dropped.append((record.trajectory_id, kept[twin].trajectory_id))
            continue
        kept.append(record)
        said.append(record.reflection)
        words.append(own)
    return kept, dropped


def _alike(one: list[str], other: list[str], similar: float) -> bool:
    return Indel.normalized_similarity(one, other, score_cutoff=similar) >= similar
