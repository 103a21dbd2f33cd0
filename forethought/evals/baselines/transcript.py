"""Moves as prompts show them, and as a trajectory keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forethought.evals.actions import call_text
from forethought.evals.baselines.bench import Bench
from forethought.evals.baselines.state import Move, State, moves_of
from forethought.evals.toolset import ACT
from forethought.trajectories.types import Tool, Trajectory, TrajectoryStep

TRANSCRIPT_CHARS = 240_000
"""Maximum characters of all moves; earlier ones are left out."""


def shown(moves: Sequence[Move], limit: int = TRANSCRIPT_CHARS) -> dict[str, Any]:
    """`steps` and `before` of a template: the last moves within `limit` characters, numbered from the first
    of all, and how many are left out."""
    steps: list[dict[str, Any]] = []
    room = limit
    for move in reversed(moves):
        text = move_text(move)
        room -= len(text)
        if room < 0 and steps:
            break
        steps.append({"n": len(moves) - len(steps), "text": text})
    return {"steps": steps[::-1], "before": len(moves) - len(steps)}


def move_text(move: Move) -> str:
    """A move in three lines: thought if there is one, action, observation."""
    failed = f" (failed: {move['cause']})" if not move["ok"] else ""
    thought = [f"thought: {move['thought']}"] if move["thought"] else []
    lines = [*thought, f"action: {action_text(move)}"]
    if move["action"] != "finish":
        lines.append(f"observation{failed}: {move['observation']}")
    return "\n".join(lines)


def action_text(move: Move) -> str:
    """tool(arguments), the text of an action, or finish."""
    if move["action"] == "finish":
        return f"finish: {move['answer']}"
    if move["action"] == "none":
        return "none: no usable reply"
    if move["tool"] == ACT:
        return str(move["arguments"].get("action", ""))
    return f"{move['tool']}({json.dumps(move['arguments'], ensure_ascii=False, sort_keys=True)})"


def try_text(state: State, number: int, limit: int) -> str:
    """A whole try for a prompt about several: its moves and its answer."""
    view = shown(moves_of(state, number), limit)
    tried = next(item for item in state["tried"] if item["number"] == number)
    lines = [f"({view['before']} earlier steps are left out.)"] if view["before"] else []
    lines += [f"Step {step['n']}\n{step['text']}" for step in view["steps"]]
    return "\n\n".join([*lines, f"Answer: {tried['answer'] or '(none)'}"])


def trajectory(state: State, bench: Bench, number: int) -> Trajectory:
    """Try `number` as a trajectory; with earlier ones where all tries are one history."""
    one = bool(state.get("notes", {}).get("one_history"))
    moves = [move for move in state.get("moves", []) if move["attempt"] == number or one]
    tried = next(item for item in state["tried"] if item["number"] == number)
    steps = [_step(number, move, bench) for number, move in enumerate(moves, 1)]
    asked_last = bool(tried["answer"]) and not (moves and moves[-1]["answer"] == tried["answer"])
    if asked_last:
        after = steps[-1].number + 1 if steps else 1
        steps.append(TrajectoryStep(number=after, action=f"answer: {tried['answer']}"))
    episode, tries = bench.tools.episode, len(state["tried"])
    several = f"This is try {number} of {tries}." if tries > 1 else ""
    spent = "The try ended because its budget of tokens was spent." if tried["ended"] == "tokens" else ""
    return Trajectory(
        id=bench.trial.thread,
        task=state["task"],
        environment=episode.name if episode else "",
        tools=tuple(
            Tool(name=name, description=tool.description, parameters=tool.arguments.model_json_schema())
            for name, tool in bench.offered.items()
        ),
        files=tuple(file.name for file in bench.trial.sample.files),
        source="forethought-baseline",
        steps=tuple(steps),
        answer=tried["answer"],
        halted=tried["ended"] == "steps",
        notes=tuple(note for note in (several, spent) if note),
    )


def _step(number: int, move: Move, bench: Bench) -> TrajectoryStep:
    called = move["action"] == "call"
    tool = bench.tools.get(move["tool"]) if called else None
    if move["action"] == "finish":
        action = f"answer: {move['answer']}"
    elif called and move["tool"] != ACT:
        action = call_text(move["tool"], move["arguments"])
    else:
        action = action_text(move) if called else ""
    return TrajectoryStep(
        number=number,
        planning=f"Thought: {move['thought']}" if move["thought"] else "",
        action=action,
        observation=move["observation"],
        failure="llm_limit" if move["action"] == "none" else "",
        tool=move["tool"] if called and move["tool"] != ACT else "",
        arguments=move["arguments"] if called and move["tool"] != ACT else {},
        changes_world=tool is not None and tool.effect == "write",
    )
