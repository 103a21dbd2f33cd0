"""A run as Markdown for an issue tracker.

Every text of a run stands in code: a fence longer than any run of backticks in it, or a span of one line. So
it is no markup, mentions nobody and links to nothing. What a tracker would refuse as too long is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from forethought.app import view
from forethought.app.text import clean, one_line, to_json
from forethought.state.plan_words import own_words
from forethought.text import cut, how_many

Json = Mapping[str, Any]
LONGEST = 65_000
"""Characters of a report; GitHub takes 65,536."""
_SIZES = ((6_000, 1_000), (2_000, 200), (600, 100), (600, 30), (200, 20))
"""What is tried until a report fits: characters of a text, and records of a kind."""
_CUT = "The rest is omitted."


def markdown_of_run(data: Json, release: str) -> str:
    """The report on a run, from the data of its page."""
    return _fitting(lambda longest, most: _run(data, release, longest, most))


def markdown_of_debugging(data: Json, release: str) -> str:
    """The report on a debugging."""
    return _fitting(lambda longest, most: _debugging(data, release, longest, most))


def fence(text: object, longest: int = LONGEST) -> str:
    """The text as a block of code, cut to `longest` characters."""
    shown = cut(clean(text).strip("\n"), longest)
    ticks = "`" * max(3, _ticks(shown) + 1)
    return f"{ticks}text\n{shown}\n{ticks}"


def code(text: object, longest: int = 300) -> str:
    """The text on one line, as a span of code."""
    shown = one_line(text, longest)
    if not shown:
        return "(none)"
    ticks = "`" * (_ticks(shown) + 1)
    space = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def _ticks(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _fitting(report: Callable[[int, int], Iterator[str]]) -> str:
    """The fullest report that fits; if none does, as many parts of the shortest one as fit."""
    parts: list[str] = []
    for size in _SIZES:
        parts, room = [], LONGEST - len(_CUT) - 2
        for part in report(*size):
            room -= len(part) + 2
            if room < 0:
                break
            parts.append(part)
        else:
            return "\n\n".join(parts) + "\n"
    return "\n\n".join([*parts, _CUT]) + "\n"


def _run(data: Json, release: str, longest: int, most: int) -> Iterator[str]:
    result = data["result"]
    facts = {
        "Status": result["status"].replace("_", " "),
        "Score": f"{result['score']} of 10" if result["score"] else "",
        "Cost": f"{view.usage_line(result['usage'])}, {view.seconds(result['seconds'])}",
        "Rounds": result["rounds"],
        "Steps": len(result["steps"]),
        "Files": ", ".join(str(file.get("name")) for file in data["files"]),
        "Release": release,
    }
    yield f"# Run {code(data['thread_id'])}"
    yield "\n".join(f"- {name}: {code(value)}" for name, value in facts.items() if value != "")
    for heading, text in (
        ("Task", data["task"]),
        ("Error", result.get("error")),
        ("Answer", result["answer"]),
        ("Why it did not pass", result["evaluation"] if result["status"] != "answered" else ""),
    ):
        if text:
            yield f"## {heading}\n\n{fence(text, longest)}"
    for question in (result.get("interrupts") or [])[:10]:
        yield f"## Waiting for a person\n\n{fence(to_json(question), longest)}"
    yield from _plan(result, most)
    if result["steps"]:
        yield "## Steps"
        yield from _some([partial(_step, step, longest) for step in result["steps"]], most)
    yield from _section(
        "Sources", [f"step {one['n']}: {code(one['origin'])}" for one in result["sources"]], most
    )
    yield from _section("Cost", [_cost(row) for row in result["cost"]], most)
    for debugging in data["debuggings"][:5]:
        yield "\n\n".join(_debugging(debugging, "", longest, most)).replace("# ", "## ", 1)


def _plan(result: Json, most: int) -> Iterator[str]:
    for review in result["plan_reviews"][:most]:
        found = [f"{code(one['error_type'])}: {code(one['evidence'])}" for one in review["errors"]]
        yield from _section(f"Planning errors in version {int(review['plan_version'])}", found, most)
    yield from _section(
        "New plans requested",
        [f"after step {one['n']}: {code(one['reason'])}" for one in result["replans"]],
        most,
    )
    plan = result["plan"] or {}
    subtasks = [
        f"{code(one['id'])} ({code(one.get('status') or 'pending')}): {code(words)}"
        for one in plan.get("subtasks") or []
        for words, _ in [own_words(one["description"])]
    ]
    yield from _section(f"Plan version {int(plan.get('version') or 0)}", subtasks, most)


def _step(step: Json, longest: int) -> str:
    state = "ok" if step["ok"] else f"failed ({step.get('cause') or 'no cause'})"
    score = f", score {int(step['score'])}" if step.get("score") else ""
    call = view.move(dict(step), width=longest)
    head = f"### Step {int(step['n'])}: {code(step['subtask'])}, {code(state)}{score}"
    return f"{head}\n\n{fence(call, longest)}\n\nObserved:\n\n{fence(step['observation'], longest)}"


def _cost(row: Json) -> str:
    tokens = how_many(row["input_tokens"] + row["output_tokens"], "token")
    return f"{code(row['mechanism'])}: {how_many(row['calls'], 'call')}, {tokens}. {code(row['note'])}"


def _debugging(data: Json, release: str, longest: int, most: int) -> Iterator[str]:
    yield f"# Debugging {code(data['thread_id'])}"
    yield f"- Status: {code(data['status'])}" + (f"\n- Release: {code(release)}" if release else "")
    if critical := data.get("critical"):
        where = f"{critical['critical_step']}, {critical['critical_module']}: {critical['error_type']}"
        yield f"- Critical step: {code(where)}"
        for name in ("root_cause", "evidence", "correction_guidance"):
            if critical.get(name):
                yield f"{name.replace('_', ' ').capitalize()}:\n\n{fence(critical[name], longest)}"
    ends = {True: "succeeded", False: "failed"}
    runs = [
        f"from before step {int(one['from_step'])}, {ends[bool(one['success'])]}: {code(one['reason'])}"
        for one in data["branches"]
    ]
    yield from _section("Re-runs", runs, most)


def _section(heading: str, lines: Sequence[str], most: int) -> Iterator[str]:
    if lines:
        yield f"## {heading}"
        yield "\n".join(f"- {line}" for line in _some([partial(str, line) for line in lines], most))


def _some(items: Sequence[Callable[[], str]], most: int) -> Iterator[str]:
    """What the first and the last of the items say, and how many are left out between them."""
    left = len(items) - most
    yield from (item() for item in (items if left <= 0 else items[: most // 2]))
    if left > 0:
        yield f"{how_many(left, 'record')} omitted"
        yield from (item() for item in items[-(most - most // 2) :])
