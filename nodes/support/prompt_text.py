"""The text of state in prompts: one renderer a record, deterministic, so that prompts can be replayed.

What a prompt holds of a long run is bounded, however many steps there are. The newest steps, results and
earlier tasks stand one by one, with less of each observation and of its call's arguments the more there are;
the steps before them are a line a subtask. A run of ordinary length is shown whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from forethought.state.agent import (
    AgentState,
    FileRef,
    LongTerm,
    Plan,
    Progress,
    Result,
    ShortTerm,
    Step,
    Subtask,
)
from forethought.text import cut, one_line

OBSERVATION_CHARS = 6_000
"""An observation's length in the prompts of its own subtask and of the answer agent."""
HEAD_CHARS = 400
"""An observation's length in summaries."""
OPEN_CHARS = 3_000
"""The length of what an unfinished subtask saw last: a new plan has nothing else to go by."""
RESULT_CHARS = 8_000
MANY = 150
"""Steps, results or other things of a kind that are shown one by one: the newest."""
MATERIAL_CHARS = 400_000
"""Characters of all observations shown one by one together; of all results, and all memories, too."""
OWN_CHARS = 200_000
"""Characters of all that the models themselves wrote: arguments; rounds; the texts of earlier tasks."""
MOST_LINES = 200
"""Lines about the steps before them."""
OUTLINE_CHARS = 6_000
"""The length of a plan in short."""
_LEAST_CHARS = 400
LINE_CHARS = 200
"""Characters of a text that is shown in one line."""


def compact(value: Any) -> str:
    """`value` as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def trajectory(state: AgentState) -> list[Step]:
    """The steps of the present task, by number."""
    task = state.get("progress", {}).get("task", 1)
    mine = [step for step in state.get("trajectory", []) if step["task"] == task]
    return sorted(mine, key=itemgetter("n"))


def files_text(files: Sequence[FileRef | str]) -> str:
    """One line a file, or that there are none."""
    lines = [
        f"{item['name']} ({item.get('type', 'unknown type')}, {item.get('size', 0)} bytes)"
        for item in files
        if not isinstance(item, str)
    ]
    return "\n".join(lines) or "No files were given."


def call_text(step: Mapping[str, Any], limit: int | None = None) -> str:
    """A call as tool(arguments), or the action when it was none: one line. `limit` bounds the length of the
    arguments in characters."""
    if not step.get("tool"):
        return str(step.get("action", ""))
    arguments = compact(step["arguments"])
    text = arguments if limit is None else cut(arguments, limit).replace("\n", " ")
    return f"{step['tool']}({text})"


def step_text(step: Step, limit: int = OBSERVATION_CHARS, own_limit: int | None = None) -> str:
    """A step with its outcome. `limit` bounds the observation's length in characters, `own_limit` that of the
    arguments and of what was expected."""
    lines = [
        f"subtask: {step['subtask']}",
        f"thought: {cut(step['thought'], HEAD_CHARS)}",
        f"move: {call_text(step, own_limit)}",
    ]
    if step["expected"]:
        expected = step["expected"]
        lines.append(f"expected: {expected if own_limit is None else cut(expected, own_limit)}")
    outcome = "ok" if step["ok"] else f"failed ({step['cause']})"
    if step["surprise"] == "serious":
        outcome += ", a serious surprise"
    lines += [f"outcome: {outcome}", f"observed ({step['origin']}): {cut(step['observation'], limit)}"]
    return "\n".join(lines)


def steps_text(steps: Iterable[Step], results: Mapping[str, Result] | None = None) -> str:
    """A digest of the trajectory: per step its number, subtask, call, outcome and the head of what came.

    What stands whole among `results`, in the same prompt, is not repeated. What a subtask without a result
    saw last is shown at length.
    """
    steps = list(steps)
    standing = {result["n"] for result in (results or {}).values()}
    telling = {step["subtask"]: step["n"] for step in steps if step["ok"] and step["action"] == "call"}
    for key in results or {}:
        telling.pop(key, None)
    newest = steps[-MANY:]
    lines, own_limit = condensed(steps[:-MANY]), own_share(len(newest))
    for step in newest:
        outcome = "ok" if step["ok"] else f"FAILED ({step['cause']})"
        if step["n"] in standing:
            text = "see its result"
        elif telling.get(step["subtask"]) == step["n"]:
            text = cut(step["observation"], share(OPEN_CHARS, len(newest)))
        else:
            text = " ".join(cut(step["observation"], HEAD_CHARS).split())
        surprise = f" [surprise: {step['surprise']}]" if step["surprise"] != "none" else ""
        if "foresight" in step:
            surprise += f" [reflection: {cut(step['foresight']['reflection'], HEAD_CHARS)}]"
        move = f"[{step['subtask']}] {call_text(step, own_limit)}"
        lines.append(f"step {step['n']} {move}: {outcome}{surprise}: {text}")
    return "\n".join(lines)


def tool_record(steps: Iterable[Step]) -> str:
    """How each tool has behaved: calls, failures and their causes (PreFlect 3.2.2)."""
    by_tool: dict[str, list[Step]] = {}
    tool_steps = [step for step in steps if step["tool"] and step["action"] == "call"]
    for step in tool_steps:
        by_tool.setdefault(str(step["tool"]), []).append(step)
    newest = {step["n"] for step in [step for step in tool_steps if not step["ok"]][-MANY:]}
    lines = []
    for tool, calls in sorted(by_tool.items()):
        lines.append(f"{tool}: {len(calls)} calls, {_failed(calls)} failed")
        lines += [
            f"  step {step['n']}: {step['cause']}: {cut(step['observation'], 160)}"
            for step in calls
            if step["n"] in newest
        ]
    return "\n".join(lines)


def subtask_text(subtask: Subtask) -> str:
    """A subtask as its worker sees it."""
    lines = [subtask["description"]]
    if subtask["tool"]:
        lines.append(f"Tool suggested by the plan: {subtask['tool']}")
    if subtask["expected"]:
        lines.append(f"Expected result: {subtask['expected']}")
    return "\n".join(lines)


def plan_text(plan: Plan, *, only_open: bool = False) -> str:
    """The plan, a block a subtask, with each one's status. Of a very long plan the finished ones are a
    number: their results stand beside it."""
    subtasks = plan.get("subtasks", [])
    facts = {"Known": plan.get("known"), "To be found out": plan.get("open")}
    whole = [subtask for subtask in subtasks if subtask["status"] != "finished"]
    lines = [f"{name}: {'; '.join(items)}" for name, items in facts.items() if items and subtasks]
    blocks = ["\n".join(lines)] if lines else []
    if not only_open and len(subtasks) <= MANY:
        whole = subtasks
    elif not only_open:
        blocks += [f"{len(subtasks) - len(whole)} subtasks are finished besides those below."]
    for subtask in whole:
        after = f", after {', '.join(subtask['depends_on'])}" if subtask["depends_on"] else ""
        blocks.append(f"{subtask['id']} [{subtask['status']}{after}]\n{subtask_text(subtask)}")
    return "\n\n".join(blocks)


def plan_outline(plan: Plan, own: str = "") -> str:
    """The plan in short, a line a subtask: id, status and the head of its description; `own` is marked."""
    lines = [
        f"{item['id']} [{'yours' if item['id'] == own else item['status']}]: "
        f"{one_line(item['description'], LINE_CHARS)}"
        for item in plan.get("subtasks", [])
    ]
    return cut("\n".join(lines), OUTLINE_CHARS)


def result_items(results: Mapping[str, Result], ids: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Results for a prompt, ordered by their step; `ids` chooses among them."""
    chosen = results if ids is None else {key: results[key] for key in ids if key in results}
    ordered = sorted(chosen.items(), key=lambda item: (item[1]["n"], item[0]))
    earlier, newest = ordered[:-MANY], ordered[-MANY:]
    limit = share(RESULT_CHARS, len(newest))
    items: list[dict[str, Any]] = [
        {"id": key, "n": result["n"], "origin": result["origin"], "text": cut(result["text"], limit)}
        for key, result in newest
    ]
    if earlier:
        names = f"These stand as well: {', '.join(key for key, _ in earlier)}."
        steps = f"{earlier[0][1]['n']} to {earlier[-1][1]['n']}"
        items.insert(0, {"id": "earlier", "n": steps, "origin": "model", "text": cut(names, RESULT_CHARS)})
    return items


def step_items(steps: Sequence[Step], note: Callable[[Step], str] = lambda step: "") -> list[dict[str, Any]]:
    """Steps for a prompt, one by one with `note` behind each: {n, text}; of very many the first are
    condensed."""
    earlier, newest = steps[:-MANY], steps[-MANY:]
    limit, own_limit = share(OBSERVATION_CHARS, len(newest)), own_share(len(newest))
    items: list[dict[str, Any]] = [
        {"n": step["n"], "text": step_text(step, limit, own_limit) + note(step)} for step in newest
    ]
    if earlier:
        numbers = f"{earlier[0]['n']} to {earlier[-1]['n']}"
        items.insert(0, {"n": numbers, "text": "\n".join(condensed(earlier))})
    return items


def memory_items(memory: ShortTerm | None) -> list[dict[str, Any]]:
    """Short-term memory for a prompt, in the order it came: {id, text}; of very many memories the newest."""
    if memory is None:
        return []
    items: list[tuple[int, int, str, str]] = []
    for item in memory["rejected"]:
        whole = " as the subtask's whole result" if item.get("finishes") else ""
        move = f"rejected before it was made (score {item['score']}): {call_text(item)}{whole}. "
        items.append((item["n"], 0, "rejected", f", {move}{item['evaluation']}"))
    for item in memory["failures"]:
        error = cut(item["error"], 3_000)
        items.append((item["n"], 1, "failure", f" failed ({item['cause']}): {call_text(item)}: {error}"))
    items += [
        (item["n"], 2, "reflection", f", reflection on what came: {cut(item['text'], 3_000)}")
        for item in memory.get("reflections", [])
    ]
    newest = sorted(items, key=lambda item: item[:2])[-MANY:]
    limit = share(MATERIAL_CHARS, len(newest))
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
    lines += [f"Answer: {cut(record['answer'], 1_500)}", f"Evaluation: {record['evaluation']}"]
    if record["reflection"] != record["evaluation"]:
        lines.append(f"Reflection: {record['reflection']}")
    return "\n".join(lines)


def rounds_texts(long_term: Mapping[str, LongTerm]) -> list[str]:
    """The failed rounds, in order; a round that is still under way has no score and is left out."""
    records = [record for record in long_term.values() if "score" in record]
    texts = [round_text(record) for record in sorted(records, key=lambda record: record["round"])]
    return [cut(text, own_share(len(texts))) for text in texts]


def earlier_items(progress: Progress) -> list[dict[str, str]]:
    """The earlier tasks of the thread, with their answers: {task, answer}; of very many the newest."""
    newest = progress.get("earlier", [])[-MANY:]
    limit = own_share(len(newest))
    return [{"task": cut(item["task"], limit), "answer": cut(item["answer"], limit)} for item in newest]


def share(whole: int, count: int, material: int = MATERIAL_CHARS) -> int:
    """How many characters each of `count` texts may have, of at most `whole`; `material` for all of them."""
    return max(_LEAST_CHARS, min(whole, material // max(count, 1)))


def own_share(count: int) -> int:
    """How many characters each of `count` texts may have that a model wrote."""
    return share(OWN_CHARS, count, OWN_CHARS)


def condensed(steps: Sequence[Step]) -> list[str]:
    """A line a subtask, in order; of very many subtasks the first ones share a line."""
    by_subtask: dict[str, list[Step]] = {}
    for step in steps:
        by_subtask.setdefault(step["subtask"], []).append(step)
    groups = list(by_subtask.values())
    lines = []
    if first := [step for group in groups[:-MOST_LINES] for step in group]:
        subtasks = len(groups) - MOST_LINES
        lines = [f"{_span(first)}: {len(first)} steps of {subtasks} subtasks, {_failed(first)} failed"]
    for group in groups[-MOST_LINES:]:
        observations = [step["observation"] for step in group if step["ok"]]
        head = one_line(observations[-1] if observations else group[-1]["observation"], LINE_CHARS)
        summary = f"{len(group)} steps, {_failed(group)} failed; last: {head}"
        lines.append(f"{_span(group)} [{group[0]['subtask']}]: {summary}")
    return lines


def _span(steps: Sequence[Step]) -> str:
    first, last = steps[0]["n"], steps[-1]["n"]
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _failed(steps: Sequence[Step]) -> int:
    return sum(not step["ok"] for step in steps)
