"""Where a format whose runs are messages keeps what a trajectory needs: a row of the table in `chats`.

Paths are dotted keys, `|` between alternatives. What paths cannot say, such as inspect's attachments, a row's
`adapt` brings into place first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forethought.text import one_line
from forethought.trajectories.format import Format
from forethought.trajectories.message_forms import content
from forethought.trajectories.messages import conversation, last_messages, tools_of, trajectory_of
from forethought.trajectories.types import Loaded, Reference
from forethought.trajectories.values import Json, at, items, mapping, outcome, parsed, text


@dataclass(frozen=True)
class Layout:
    """Where a format keeps the parts of a run."""

    name: str
    needs: str
    """Paths that a run must have, by spaces; a claim on all that have them."""
    runs: str = ""
    """Where the runs stand ('' the value is one, or a list of them)."""
    adapt: Callable[[Json], Json] = dict
    """Brings the parts of a run into place. What runs share is its `shared`, the file's name its `file`."""
    messages: str = "messages"
    id: str = "id"
    task: str = "task"
    task_id: str = "task_id"
    trial: str = "trial"
    instructions: str = "instructions|system"
    tools: str = "tools|functions"
    files: str = "files"
    environment: str = "environment"
    answer: str = "answer"
    outcome: str = "success|won|reward|reward_info.reward|metadata.success|metadata.won|metadata.reward"
    gold: str = ""
    solution: str = ""
    answers: bool = True
    """Whether the last words of a run are its answer."""
    ended: str = "ended"
    """How it ended, in a word."""
    limits: str = r"(?!)"
    """What such a word is where a limit ended the run, as a pattern."""

    def format(self) -> Format:
        """The row as a format."""
        return Format(self.name, self.needs.replace(" ", ", "), self.claims, self._read)

    def _entries(self, value: object) -> list[Any]:
        return items(at(value, self.runs)) if self.runs else items(value) or [value]

    def claims(self, value: object) -> bool:
        """Whether all runs of `value`, or else `value` itself, have what the format needs."""
        entries = self._entries(value)
        owners = [value] if self.runs else entries
        return bool(entries) and all(
            at(owner, *path.split("|")) is not None for owner in owners for path in self.needs.split()
        )

    def _read(self, value: object, name: str) -> list[Loaded]:
        shared = {"shared": value} if self.runs else {}
        return [self.run({**mapping(entry), **shared}, name) for entry in self._entries(value)]

    def run(self, entry: Json, name: str) -> Loaded:
        """The run in `entry`, named after its file and task where it has no name of its own."""
        entry = self.adapt({**entry, "file": name})

        def found(path: str) -> Any:
            return at(entry, *path.split("|")) if path else None

        task_id, trial, own = (text(found(path)) for path in (self.task_id, self.trial, self.id))
        numbered = "-".join([name, *([f"task{task_id}"] * bool(task_id)), f"trial{trial}"])
        ended = text(found(self.ended))
        limit = ended if re.search(self.limits, ended, re.IGNORECASE) else ""
        error = text(at(entry, "error"))
        messages = last_messages(items(found(self.messages)))
        chat = conversation(messages)
        silent = () if chat.turns or not messages else ("No message of it is the agent's.",)
        failed = (f"It ended with an error: {one_line(error, 300)}",) if error else ()
        trajectory = trajectory_of(
            chat,
            id=own or (numbered if trial else name),
            source=self.name,
            task=content(found(self.task)).strip(),
            task_id=task_id,
            instructions=content(found(self.instructions)),
            tools=tools_of(parsed(found(self.tools))),
            files=tuple(map(text, items(found(self.files)) or mapping(found(self.files)))),
            environment=text(found(self.environment)),
            answer=text(found(self.answer)),
            halted=bool(limit),
            limit=limit,
            answers=self.answers,
            notes=(*failed, *silent, *map(text, items(at(entry, "notes")))),
        )
        gold = found(self.gold)
        reference = Reference(
            outcome=outcome(found(self.outcome)),
            gold=tuple(filter(None, map(text, items(gold) or [gold]))),
            solution=text(found(self.solution)),
        )
        return Loaded(trajectory=trajectory, reference=reference)
