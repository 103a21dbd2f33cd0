"""The text of memories in prompts: a subtask's failures, and the failed rounds of a task (MIRROR 3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from forethought.nodes.support.prompt_text import call_text
from forethought.nodes.support.shares import LINE_CHARS, cut_off, most, share
from forethought.sizes import Sizes
from forethought.state.agent import LongTerm, ShortTerm
from forethought.text import cut

_ERROR_CHARS = 3_000


def memory_items(memory: ShortTerm | None, sizes: Sizes) -> list[dict[str, Any]]:
    """Short-term memory for a prompt, in the order it came: {id, text}; of very many memories the newest."""
    if memory is None:
        return []
    items: list[tuple[int, int, str, str]] = []
    for item in memory["rejected"]:
        whole = " as the subtask's whole result" if item.get("finishes") else ""
        move = f"rejected before it was made (score {item['score']}): {call_text(item)}{whole}. "
        items.append((item["n"], 0, "rejected", f", {move}{item['evaluation']}"))
    for item in memory["failures"]:
        error = cut(item["error"], _ERROR_CHARS)
        items.append((item["n"], 1, "failure", f" failed ({item['cause']}): {call_text(item)}: {error}"))
    items += [
        (item["n"], 2, "reflection", f", reflection on what came: {cut(item['text'], _ERROR_CHARS)}")
        for item in memory.get("reflections", [])
    ]
    first = cut_off(len(items), most(sizes.written, LINE_CHARS))
    newest = sorted(items, key=lambda item: item[:2])[first:]
    limit = share(sizes.written, len(newest))
    return [{"id": f"{kind}:{n}", "text": cut(f"Step {n}{text}", limit)} for n, _, kind, text in newest]


def round_text(record: LongTerm) -> str:
    """A failed round of long-term memory (MIRROR 3.5)."""
    first, last = record["steps"]
    span = f"steps {first} to {last}" if first <= last else "no steps"
    lines = [
        f"Round {record['round']}, {span}, answer scored {record['score']} of 10.",
        "Plan:",
    ]
    lines += [
        f"- {subtask['id']}: {subtask['description']} [{subtask['status']}]" for subtask in record["plan"]
    ]
    for n, failure in sorted(record.get("failures", {}).items(), key=lambda item: int(item[0])):
        what = f"{failure['tool']}: {failure['cause']}: {failure['error']}"
        lines.append(f"Failure at step {n} [{failure['subtask']}] {what}")
    for error in record["errors"]:
        lines.append(f"Planning error found: {error['error_type']}: {error['evidence']}")
    lines += [f"Answer: {_answer_head(record)}", f"Evaluation: {record['evaluation']}"]
    if record["reflection"] != record["evaluation"]:
        lines.append(f"Reflection: {record['reflection']}")
    return "\n".join(lines)


def _failed_rounds(long_term: Mapping[str, LongTerm]) -> list[LongTerm]:
    """The failed rounds, in order; a round that is still under way has no score and is left out."""
    records = [record for record in long_term.values() if "score" in record]
    return sorted(records, key=itemgetter("round"))


def rejected_text(long_term: Mapping[str, LongTerm]) -> str:
    """The answer of the last failed round and its evaluation; '' if there is none."""
    answered = [f"{_answer_head(record)}\n\n{record['evaluation']}" for record in _failed_rounds(long_term)]
    return answered[-1] if answered else ""


def _answer_head(record: LongTerm) -> str:
    return cut(record["answer"], 1_500)


def rounds_texts(long_term: Mapping[str, LongTerm], sizes: Sizes) -> list[str]:
    """The failed rounds, in order."""
    texts = [round_text(record) for record in _failed_rounds(long_term)]
    return [cut(text, share(sizes.written, len(texts))) for text in texts]
