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
from forethought.trajectories.message_forms import content
from forethought.trajectories.messages import Conversation, conversation, last_messages, tools_of
from forethought.trajectories.types import Loaded, Reference, Trajectory
from forethought.trajectories.values import Json, at, items, mapping, outcome, parsed, text


@dataclass(frozen=True)
class Layout:
    """Where a format keeps the parts of a run."""

    name: str
    needs: str
    """Paths that identify a run of this format, separated by spaces."""
    runs: str = ""
    """Path of the runs ('': the value is a run or a list of runs; '*': they are under its keys)."""
    adapt: Callable[[Json], Json] = dict
    """Rearranges a run. `shared` has what all runs share, `file` the file's name."""
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
    """Whether a run's last message is its answer."""
    ended: str = "ended"
    """How the run ended, in a word."""
    limits: str = r"(?!)"
    """Pattern of such words for a run that a limit ended."""

    @property
    def looked_for(self) -> str:
        """What the format is known by."""
        return self.needs.replace(" ", ", ")

    def _entries(self, value: object) -> list[Any]:
        if self.runs == "*":
            return [{"key": key, **mapping(each)} for key, each in mapping(value).items()]
        return items(at(value, self.runs)) if self.runs else items(value) or [value]

    def claims(self, value: object) -> bool:
        """Whether all runs of `value`, or else `value` itself, have what the format needs."""
        entries = self._entries(value)
        owners = [value] if self.runs.strip("*") else entries
        return bool(entries) and all(
            at(owner, *path.split("|")) is not None for owner in owners for path in self.needs.split()
        )

    def read(self, value: object, name: str) -> list[Loaded]:
        """The runs in a value that the format claims."""
        shared = {"shared": value} if self.runs else {}
        return [self.run({**mapping(entry), **shared}, name) for entry in self._entries(value)]

    def run(self, entry: Json, name: str) -> Loaded:
        """The run in `entry`, of the file `name`, with its messages."""
        entry = self.adapt({**entry, "file": name})
        return self.to_loaded(
            conversation(last_messages(items(self._value_at(entry, self.messages)))), entry, name
        )

    def to_loaded(self, chat: Conversation, entry: Json, name: str) -> Loaded:
        """The run that `chat` and `entry` tell, named after its file and task where it has no name of its
        own."""
        names = ("id", "task_id", "trial", "environment", "answer", "ended", "solution")
        words = {each: text(self._value_at(entry, getattr(self, each))) for each in names}
        tried = (f"task{words['task_id']}" if words["task_id"] else "", f"trial{words['trial']}")
        numbered = "-".join(filter(None, (name, *tried)))
        limit = words["ended"] if re.search(self.limits, words["ended"], re.IGNORECASE) else ""
        error, task = text(entry.get("error")), content(self._value_at(entry, self.task)).strip()
        silent = ["No message of it is the agent's."] if chat != Conversation() and not chat.turns else []
        failed = [f"It ended with an error: {one_line(error, 300)}"] if error else []
        files, gold = (self._value_at(entry, path) for path in (self.files, self.gold))
        trajectory = Trajectory(
            id=words["id"] or (numbered if words["trial"] else name),
            source=self.name,
            task=task or chat.task or "(no task was given)",
            task_id=words["task_id"],
            instructions=content(self._value_at(entry, self.instructions)) or "\n\n".join(chat.instructions),
            tools=tools_of(parsed(self._value_at(entry, self.tools))),
            files=tuple(map(text, items(files) or mapping(files))) or tuple(chat.files),
            environment=words["environment"],
            world=text(entry.get("world")),
            steps=tuple(chat.steps(task)),
            answer=words["answer"] or (chat.turns[-1].answer if chat.turns and self.answers else ""),
            halted=bool(limit or entry.get("halted")),
            limit=limit,
            notes=(*failed, *silent, *map(text, items(entry.get("notes")))),
        )
        reference = Reference(
            outcome=outcome(self._value_at(entry, self.outcome)),
            gold=tuple(filter(None, map(text, items(gold) or [gold]))),
            solution=words["solution"],
        )
        return Loaded(trajectory=trajectory, reference=reference)

    def _value_at(self, entry: Json, path: str) -> Any:
        return at(entry, *path.split("|"))
