"""A trial's tools as an environment of text actions, in which a run can be replayed and gone on with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from forethought.evals.actions import call_text, parse_call
from forethought.evals.baselines.bench import Bench
from forethought.evals.toolset import ACT, opening
from forethought.nodes.support.prompt_text import files_text
from forethought.rollouts.environment import handed_in
from forethought.rollouts.types import EnvironmentReply
from forethought.tools.registry import describe

_NOTHING_LEFT = "No call is left: the run ends here."


@dataclass
class TrialWorld:
    """An Environment over the tools of `bench`: an action is one of the world's own, a call as JSON, or
    finish[ANSWER].

    Every action counts against the budget but one that repeats, from the beginning, what an earlier run did:
    a replay is no step.
    """

    bench: Bench
    name: str = ""
    task: str = ""
    """Both are set by `open`."""
    _path: tuple[str, ...] = ()
    _walked: set[tuple[str, ...]] = field(default_factory=set)

    async def open(self) -> None:
        """Write the task as an agent needs it here: files, tools and the world's first words included."""
        bench, sample = self.bench, self.bench.trial.sample
        self.name = bench.tools.episode.name if bench.tools.episode else ""
        parts = [f"Earlier task: {turn.task}\nIts answer: {turn.answer}" for turn in sample.earlier]
        first = await bench.tools.begin()
        parts.append(opening(sample.task, first and replace(first, admissible=())))
        if sample.answer_format:
            parts.append(f"The answer's form: {sample.answer_format}")
        if bench.files or bench.folders:
            parts.append(f"Files given with the task:\n{files_text(bench.files, bench.folders)}")
        parts.append(self._how_to_act())
        self.task = "\n\n".join(parts)

    def know(self, actions: Iterable[str]) -> None:
        """What a run did that was made before, elsewhere."""
        path: tuple[str, ...] = ()
        for action in actions:
            path = (*path, action)
            self._walked.add(path)

    async def reset(self) -> EnvironmentReply:
        """The world as it was before the first step."""
        self._path = ()
        return await self.bench.tools.begin() or EnvironmentReply("Nothing was done yet.")

    async def step(self, action: str) -> EnvironmentReply:
        """Carry `action` out. What is no call of a tool that there is says so, and costs no step."""
        tools = self.bench.tools
        if (answer := handed_in(action)) is not None:
            reward = await tools.finish(answer)
            return EnvironmentReply("The answer is handed in.", reward=reward or 0.0, done=True)
        try:
            name, arguments = (ACT, {"action": action}) if tools.acts_in_text else parse_call(action)
        except ValueError as error:
            return self._reply_of(str(error))
        if name not in self.bench.offered:
            return self._reply_of(f"there is no tool {name!r}; tools are: {', '.join(self.bench.offered)}")
        self._path = (*self._path, action)
        used, is_replay = tools.counter.used, self._path in self._walked
        if is_replay:
            tools.counter.used -= 1
        elif not tools.counter.left:
            return replace(self._reply_of(_NOTHING_LEFT), done=True)
        self._walked.add(self._path)
        came = await self.bench.call(name, arguments, len(self._path))
        if is_replay:
            tools.counter.used = used
        if came.ok and tools.acts_in_text and tools.reply is not None:
            return tools.reply
        return self._reply_of(came.text)

    def _reply_of(self, text: str) -> EnvironmentReply:
        tools = self.bench.tools
        possible = tools.reply.admissible if tools.reply is not None else ()
        return EnvironmentReply(text, possible, tools.reward or 0.0, tools.done)

    def _how_to_act(self) -> str:
        bench = self.bench
        if bench.tools.acts_in_text and bench.tools.episode is not None:
            return f"How to act: {bench.tools.episode.how_to_act}"
        finish = "`finish[ANSWER]` ends the task with the answer."
        if not bench.offered:
            return f"How to act: {finish} There are no tools."
        example = call_text("TOOL", {"ARGUMENT": "value"})
        return f"How to act: an action is a call as JSON, such as {example}. {finish}\n\n" + describe(
            bench.offered
        )
