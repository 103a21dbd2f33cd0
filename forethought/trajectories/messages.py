"""Messages as turns of one conversation, and a conversation as a trajectory.

Every assistant message is a step; the items of one model's reply are one. What it says before its calls is
its planning; its calls, or else its words, are its action; all that comes before the next assistant message
is its observation, so that the last result is never lost. System messages before the first step are the
instructions, the first user message is the task, and what else stands before step 1 is given to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from forethought.trajectories.message_forms import Said, parts_of
from forethought.trajectories.types import Tool, TrajectoryStep
from forethought.trajectories.values import Json, at, first, items, mapping, parsed, text

_FINISHING = ("finish", "final_answer", "submit", "answer")
_ANSWER_KEYS = ("final_answer", "answer", "result", "submission", "argument")


@dataclass
class Turn(Said):
    """A model's reply and what came after it."""

    role: str = "assistant"
    observed: list[str] = field(default_factory=list)

    @property
    def answer(self) -> str:
        """What it answers: its words where it calls nothing, or what it gives to a tool that ends runs."""
        if not self.calls:
            return self.text
        last = self.calls[-1]
        finishing = str(last["name"]).casefold() in _FINISHING
        return text(first(last["arguments"], *_ANSWER_KEYS)) if finishing else ""


@dataclass
class Conversation:
    """Messages, sorted by what they are to the agent."""

    task: str = ""
    instructions: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def steps(self, task: str = "") -> Iterator[TrajectoryStep]:
        """A step for each turn. What came before the first is given to it, and so are the words in which the
        agent was asked where the `task` has others."""
        asked = [self.task] if task and self.task and self.task != task else []
        for number, turn in enumerate(self.turns, 1):
            only: Json = turn.calls[0] if len(turn.calls) == 1 else {"name": "", "arguments": {}}
            yield TrajectoryStep(
                number=number,
                given="\n\n".join([*self.before, *asked]) if number == 1 else "",
                observation="\n".join(turn.observed),
                failure=turn.failure,
                tool=only["name"],
                arguments=only["arguments"],
                **_modules(turn),
            )


def conversation(messages: Iterable[Any]) -> Conversation:
    """`messages` in turns. What an unknown role says is an observation that names it."""
    chat = Conversation()
    for said in (part for message in messages for part in parts_of(mapping(message))):
        last = chat.turns[-1] if chat.turns else None
        if said.role == "assistant":
            if last and said.joins and last.joins:
                last.add(said)
            else:
                chat.turns.append(Turn(**vars(said)))
            continue
        chat.files += [] if chat.turns else said.files
        is_task = said.role == "user" and bool(said.text) and not chat.task
        chat.task = said.text if is_task else chat.task
        if last is not None:
            label = {"tool": "", "user": "", "system": "[system] "}.get(said.role, f"[{said.role[:40]}] ")
            repeated = said.role == "system" and said.text in chat.instructions
            last.observed += [label + said.text] if said.text and not repeated else []
            last.failure, last.joins = said.failure or last.failure, False
        elif said.text and said.role == "system":
            chat.instructions += [said.text] if said.text not in chat.instructions else []
        elif said.text and not is_task:
            chat.before.append(
                said.text if said.role in ("tool", "user") else f"[{said.role[:40]}] {said.text}"
            )
    return chat


def _modules(turn: Turn) -> Json:
    """The modules of a turn: as its source tells them apart, else what it thought or said, and did."""
    calls = "\n".join(f"{call['name']}({text(call['arguments'])})" for call in turn.calls)
    thoughts = (turn.thought, turn.text if calls else "")
    return {"planning": "\n".join(filter(None, thoughts)), "action": calls or turn.text, **turn.modules}


def tools_of(value: object) -> tuple[Tool, ...]:
    """The tools in a list of names, of functions as APIs take them, or in an object by name."""
    listed = items(value) or [{"name": key, **mapping(each)} for key, each in mapping(value).items()]
    tools: list[Tool] = []
    for each in listed:
        whole = mapping(parsed(at(each, "tool.json_schema", "json_schema"))) or mapping(each)
        tools += tools_of(first(whole, "function_declarations", "functionDeclarations"))
        tool = mapping(whole.get("function")) or whole
        name = text(first(tool, "name", "type")) if tool else text(each)
        schema = mapping(first(tool, "parameters", "input_schema", "inputSchema", "args_schema", "inputs"))
        if name:
            tools.append(Tool(name=name, description=text(tool.get("description")), parameters=schema))
    return tuple(tools)


def last_messages(messages: Sequence[Any]) -> list[Any]:
    """`messages` without a last one that is the one before it once more."""
    return list(messages[:-1] if len(messages) > 1 and messages[-1] == messages[-2] else messages)
