"""The text of steps, results and files in prompts: deterministic, so that prompts can be replayed.

Everything is shown whole as long as it fits its share of the model's window (`forethought.sizes`). Beyond it
the newest steps stay whole, older texts are cut to what bears on the reader's work (`excerpts`), and the
steps before them are a line a subtask: a prompt is bounded, however many steps there are.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from forethought.nodes.support.excerpts import Text, excerpts, shown
from forethought.nodes.support.shares import LINE_CHARS, cut_off, most, share
from forethought.sizes import Sizes, extent
from forethought.state.agent import AgentState, FileRef, Result, Step
from forethought.state.folder import FolderRef
from forethought.text import cut, how_many, one_line
from forethought.tools.base import Tool

HEAD_CHARS = 400
"""Characters of a thought, and of an observation in summaries."""
OPEN_CHARS = 3_000
"""Characters of what an unfinished subtask saw last, for a reader who looks back on the run."""
_BRIEF_STEP = 600
"""Bytes of a step that is cut as far as steps are."""


@dataclass(frozen=True)
class Reader:
    """Whose prompt it is: how much it shows, what the reader works on, and the tools that the reader has."""

    sizes: Sizes = field(default_factory=Sizes)
    query: str = ""
    tools: Mapping[str, Tool] = field(default_factory=dict)

    def can_repeat(self, step: Step) -> bool:
        """Whether the same call shows the reader the same again."""
        tool = self.tools.get(step["tool"] or "")
        return tool is not None and tool.repeatable and not tool.asks_person

    def way_to_result(self, key: str, step: Step | None) -> str:
        """How the reader gets the whole text of the result of subtask `key`, which `step` made; '' if it
        cannot."""
        ways = [f"results[{compact(key)}] in {tool.name}" for tool in self.tools.values() if tool.runs_code]
        if step and step["action"] == "call" and self.can_repeat(step):
            call = call_text(step)
            ways += [call] if len(call) <= LINE_CHARS else []
        return f"The whole text: {', or '.join(ways)}." if ways else ""


def compact(value: Any) -> str:
    """`value` as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def trajectory(state: AgentState) -> list[Step]:
    """The steps that prompts know, by number: those of the task, or of its round where rounds are not
    remembered."""
    start = start_n(state)
    return sorted((step for step in state.get("trajectory", []) if step["n"] > start), key=itemgetter("n"))


def start_n(state: AgentState) -> int:
    """Number of the last step before those that prompts know."""
    progress = state.get("progress", {})
    return progress.get("start_n", progress.get("base_n", 0))


def files_text(files: Sequence[FileRef | str], folders: Sequence[FolderRef] = ()) -> str:
    """One line a file, with its type where the name does not tell it, and one a folder."""
    lines = [_file_text(item) for item in files if not isinstance(item, str)]
    lines += [
        f"{ref['name']}/ (folder, {how_many(ref['count'], 'file')}, {ref['size'] / 1_000_000:.1f} MB)"
        for ref in folders
    ]
    return "\n".join(lines) or "No files were given."


def _file_text(file: FileRef) -> str:
    kind, size = file.get("type", ""), file.get("size", 0)
    shown = f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{-(-size // 1_000)} kB"
    untold = kind and mimetypes.guess_type(file["name"])[0] != kind
    return f"{file['name']} ({f'{kind}, ' if untold else ''}{shown})"


def call_text(step: Mapping[str, Any], limit: int | None = None) -> str:
    """A call as tool(arguments), or the action when it was none: one line. `limit` bounds the length of the
    arguments in characters."""
    if not step.get("tool"):
        return str(step.get("action", ""))
    arguments = compact(step["arguments"])
    text = arguments if limit is None else cut(arguments, limit).replace("\n", " ")
    return f"{step['tool']}({text})"


def step_text(step: Step) -> str:
    """A step with its outcome, whole."""
    return _before(step) + step["observation"]


def _before(step: Step) -> str:
    """What stands before a step's observation."""
    return f"subtask: {step['subtask']}\n{move_text(step)}"


def move_text(step: Step) -> str:
    """A step without its observation: thought, call, what was expected and how it went."""
    lines = [f"thought: {cut(step['thought'], HEAD_CHARS)}"] if step["thought"] else []
    lines.append(_move(step))
    if step["expected"]:
        lines.append(f"expected: {step['expected']}")
    return "\n".join([*lines, _outcome(step)])


def _briefly_before(step: Step) -> str:
    """What stands before the observation of a step that is cut."""
    return f"subtask: {step['subtask']}\n{_move(step, LINE_CHARS)}\n{_outcome(step)}"


def _move(step: Step, limit: int | None = None) -> str:
    """A step's call, as `call_text`: what differs from its thought may be the person's change."""
    return f"move{' (edited by the person)' if _is_edited(step) else ''}: {call_text(step, limit)}"


def _is_edited(step: Step) -> bool:
    """Whether a person changed the step's arguments."""
    return step.get("approval") == "edited"


def _outcome(step: Step) -> str:
    """How a step went, if not well, and where what it showed comes from, if not from its tool."""
    words = [] if step["ok"] else [f"failed ({step['cause']})"]
    words += ["a serious surprise"] if step["surprise"] == "serious" else []
    origin = "" if step["origin"] == f"tool:{step['tool']}" else f" ({step['origin']})"
    return ", ".join([*words, f"observed{origin}: "])


def steps_text(
    steps: Iterable[Step], results: Mapping[str, Result] | None = None, reader: Reader | None = None
) -> str:
    """A digest of the trajectory: per step its number, subtask, call, outcome and the head of what came.

    What stands among `results`, in the same prompt, is not repeated. What a subtask without a result saw is
    shown whole, in the `reader`'s share; for one who looks back (`results` is None), only what it saw last.
    """
    steps = list(steps)
    reader = reader or Reader()
    sizes = reader.sizes
    standing = {result["n"] for result in (results or {}).values()}
    first = cut_off(len(steps), most(sizes.seen // 3, HEAD_CHARS))
    lines, newest = condensed(steps[:first], sizes.seen), steps[first:]
    own_limit = share(sizes.written, len(newest))
    whole = _of_open_subtasks(newest, results, reader)
    for step in newest:
        outcome = "ok" if step["ok"] else f"FAILED ({step['cause']})"
        if step["n"] in standing:
            text = "see its result"
        else:
            text = whole.get(step["n"]) or " ".join(cut(step["observation"], HEAD_CHARS).split())
        outcome += ", edited by the person" if _is_edited(step) else ""
        surprise = f" [surprise: {step['surprise']}]" if step["surprise"] != "none" else ""
        if "foresight" in step:
            surprise += f" [reflection: {cut(step['foresight']['reflection'], HEAD_CHARS)}]"
        move = f"[{step['subtask']}] {call_text(step, own_limit)}"
        lines.append(f"step {step['n']} {move}: {outcome}{surprise}: {text}")
    return "\n".join(lines)


def _of_open_subtasks(
    steps: Iterable[Step], results: Mapping[str, Result] | None, reader: Reader
) -> dict[int, str]:
    """What subtasks without a result saw, by the step's number: a new plan has nothing else to go by."""
    calls = [s for s in steps if s["ok"] and s["action"] == "call" and s["subtask"] not in (results or {})]
    if results is None:
        last, limit = {step["subtask"]: step for step in calls}, min(OPEN_CHARS, reader.sizes.seen // 6)
        return {step["n"]: cut(step["observation"], limit) for step in last.values()}
    texts = [Text(step["observation"]) for step in calls]
    cuts = shown(texts, reader.sizes.seen * 2 // 3, reader.query)
    return {step["n"]: text for step, text in zip(calls, cuts, strict=True)}


def tool_record(steps: Iterable[Step], sizes: Sizes) -> str:
    """How each tool has behaved: calls, failures and their causes (PreFlect 3.2.2)."""
    by_tool: dict[str, list[Step]] = {}
    tool_steps = [step for step in steps if step["tool"] and step["action"] == "call"]
    for step in tool_steps:
        by_tool.setdefault(str(step["tool"]), []).append(step)
    newest = {
        step["n"]
        for step in [step for step in tool_steps if not step["ok"]][-most(sizes.written, LINE_CHARS) :]
    }
    lines = []
    for tool, calls in sorted(by_tool.items()):
        lines.append(f"{tool}: {len(calls)} calls, {_failed(calls)} failed")
        lines += [
            f"  step {step['n']}: {step['cause']}: {cut(step['observation'], 160)}"
            for step in calls
            if step["n"] in newest
        ]
    return "\n".join(lines)


def result_items(
    results: Mapping[str, Result],
    reader: Reader,
    steps: Iterable[Step] = (),
    ids: Iterable[str] | None = None,
) -> list[dict[str, Any]]:
    """Results for a prompt, ordered by their step: {id, n, origin, text}. `ids` chooses among them, `steps`
    are those that made them."""
    chosen = results if ids is None else {key: results[key] for key in ids if key in results}
    ordered = sorted(chosen.items(), key=lambda item: (item[1]["n"], item[0]))
    room, made = reader.sizes.results, {step["n"]: step for step in steps}
    first = max(len(ordered) - most(room, _BRIEF_STEP), 0)
    earlier, newest = ordered[:first], ordered[first:]
    texts = tuple(Text(item["text"], reader.way_to_result(key, made.get(item["n"]))) for key, item in newest)
    cuts: Sequence[str] = [text.text for text in texts]
    if sum(map(extent, cuts)) > room:
        cuts = excerpts(texts, reader.query, room)
    items: list[dict[str, Any]] = [
        {"id": key, "n": result["n"], "origin": result["origin"], "text": text}
        for (key, result), text in zip(newest, cuts, strict=True)
    ]
    if earlier:
        names = f"These stand as well: {', '.join(key for key, _ in earlier)}."
        numbers = f"{earlier[0][1]['n']} to {earlier[-1][1]['n']}"
        text = cut(names, reader.sizes.written)
        items.insert(0, {"id": "earlier", "n": numbers, "origin": "model", "text": text})
    return items


def step_items(
    steps: Sequence[Step],
    reader: Reader,
    room: int,
    note: Callable[[Step], str] = lambda step: "",
    digested: Collection[int] = (),
) -> list[dict[str, Any]]:
    """Steps for a prompt in `room` bytes, one by one with `note` behind each: {n, text}; of very many the
    first are condensed.

    Of steps that are more than a small share, those whose numbers are `digested` are cut first: a line each,
    and what bears on the reader's work.
    """
    texts = [Text(s["observation"], "", _before(s), _briefly_before(s)) for s in steps]
    if sum(extent(text.whole) for text in texts) <= reader.sizes.small:
        digested = ()
    brief = [step["n"] in digested for step in steps]
    least = sum(LINE_CHARS if cut_first else _BRIEF_STEP for cut_first in brief) // max(len(steps), 1)
    first = cut_off(len(steps), most(room // 6, least or _BRIEF_STEP))
    earlier, newest, brief = steps[:first], steps[first:], brief[first:]
    digests = tuple(text for text, cut_first in zip(texts[first:], brief, strict=True) if cut_first)
    others = [text for text, cut_first in zip(texts[first:], brief, strict=True) if not cut_first]
    cut_texts = excerpts(digests, reader.query, max(reader.sizes.small, LINE_CHARS * len(digests)))
    left = room - sum(map(extent, cut_texts))
    cuts = {True: iter(cut_texts), False: iter(shown(others, left, reader.query))}
    items: list[dict[str, Any]] = [
        {"n": step["n"], "text": next(cuts[cut_first]) + note(step)}
        for step, cut_first in zip(newest, brief, strict=True)
    ]
    if earlier:
        numbers = f"{earlier[0]['n']} to {earlier[-1]['n']}"
        items.insert(0, {"n": numbers, "text": "\n".join(condensed(earlier, room))})
    return items


def condensed(steps: Sequence[Step], room: int) -> list[str]:
    """A line a subtask, in order, in a sixth of `room`; of very many subtasks the first ones share a line."""
    by_subtask: dict[str, list[Step]] = {}
    for step in steps:
        by_subtask.setdefault(step["subtask"], []).append(step)
    groups, lines = list(by_subtask.values()), []
    last = most(room // 6, LINE_CHARS)
    if first := [step for group in groups[:-last] for step in group]:
        subtasks = len(groups) - last
        lines = [f"{_span(first)}: {len(first)} steps of {subtasks} subtasks, {_failed(first)} failed"]
    for group in groups[-last:]:
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
