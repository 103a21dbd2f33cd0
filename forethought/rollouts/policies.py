"""Who acts in an environment: a model module by module (AgentDebug 3.1), or Tree of Thoughts (4.2).

In the tree, one attempt is a path from the first step to an end. The next attempt goes back to the most
valued candidate that was left aside on any path so far (best first), and on from there. States are told apart
by the actions that led to them, so that what was asked of a state once is not asked again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forethought.models.allowance import total
from forethought.models.ask import Models
from forethought.models.types import Usage, no_usage, reply_spec
from forethought.prompts.debug_replies import Candidates, CandidateValues, ModularStep
from forethought.prompts.render import prompt_messages
from forethought.rollouts.types import Act, EnvironmentReply
from forethought.trajectories.show import head, step_text
from forethought.trajectories.types import TrajectoryStep

Path = tuple[str, ...]
_BLANK = re.compile(r"<[^<>]+>")
WHOLE_STEPS = 30
"""Last steps shown whole in a prompt; of earlier ones, it shows the beginnings."""


@dataclass(frozen=True)
class ModelPolicy:
    """A model that writes memory, reflection, planning and action of each step."""

    models: Models
    model: str
    max_observation: int = 4_000
    """Maximum characters of an observation in a prompt."""

    async def act(
        self, task: str, steps: Sequence[TrajectoryStep], now: EnvironmentReply, guidance: Sequence[str]
    ) -> Act:
        """See `Policy`."""
        messages = prompt_messages(
            "debug_policy",
            task=task,
            guidance=list(guidance),
            steps=steps_shown(_seen_below(steps), self.max_observation),
            earlier=max(len(steps) - WHOLE_STEPS, 0),
            now=now.observation,
            admissible=list(now.admissible),
        )
        result = await self.models.ask(
            role="policy",
            model=self.model,
            messages=messages,
            reply=reply_spec(ModularStep),
            check=lambda reply: not_possible([reply.action], now.admissible),
        )
        reply, first = result.reply, not steps
        # The first step has nothing to remember or to reflect upon (AgentDebug, figure 15).
        return Act(
            action=reply.action,
            memory="" if first else reply.memory,
            reflection="" if first else reply.reflection,
            planning=reply.planning,
            usage=result.usage,
        )


def steps_shown(
    steps: Sequence[TrajectoryStep], max_observation: int, whole: int = WHOLE_STEPS
) -> list[dict[str, Any]]:
    """Steps as a prompt shows them: the last `whole` ones whole, those before them by their heads."""
    earlier = len(steps) - whole
    return [
        {"number": step.number, "text": head(step) if at < earlier else step_text(step, max_observation)}
        for at, step in enumerate(steps)
    ]


def _seen_below(steps: Sequence[TrajectoryStep]) -> list[TrajectoryStep]:
    """The steps of a prompt that shows last, and whole, what the last one brought about."""
    below = [step.model_copy(update={"observation": "(what you see now)"}) for step in steps[-1:]]
    return [*steps[:-1], *below]


def not_possible(actions: Sequence[str], admissible: Sequence[str]) -> str | None:
    """What is wrong with actions that are not among the possible ones, if those are known. In a possible one
    such as search[<keywords>] any text may stand for the angle brackets."""
    patterns = [_BLANK.sub(".+", re.escape(action)) for action in admissible if "<" in action]
    wrong = [
        action
        for action in actions
        if admissible
        and action not in admissible
        and not any(re.fullmatch(pattern, action, re.DOTALL) for pattern in patterns)
    ]
    if not wrong:
        return None
    return f"{wrong[0]!r} is not among the possible actions: copy one of them exactly"


@dataclass
class TreePolicy:
    """Chooses each action among `count` valued candidates; remembers what was left aside in all attempts."""

    models: Models
    model: str
    count: int = 3
    max_observation: int = 4_000
    _left: dict[Path, dict[str, float]] = field(default_factory=dict)
    """Untried candidates with their values, by the actions that lead to their state."""
    _tried: dict[Path, list[str]] = field(default_factory=dict)
    _goal: Path = ()
    """Where this attempt departs from earlier ones."""

    def saved(self) -> list[dict[str, Any]]:
        """What it remembers, as plain JSON."""
        paths = dict.fromkeys((*self._left, *self._tried))
        return [
            {"path": list(path), "left": self._left.get(path, {}), "taken": self._tried.get(path, [])}
            for path in paths
        ]

    def restore(self, saved: Sequence[Mapping[str, Any]]) -> None:
        """Remember what `saved` gave."""
        for item in saved:
            self._left[tuple(item["path"])] = dict(item["left"])
            self._tried[tuple(item["path"])] = list(item["taken"])

    async def act(
        self, task: str, steps: Sequence[TrajectoryStep], now: EnvironmentReply, guidance: Sequence[str]
    ) -> Act:
        """See `Policy`. Guidance is not used: the baseline has none."""
        path = tuple(step.action for step in steps)
        if not path:
            self._goal = self._best_left()
        if len(path) < len(self._goal) and self._goal[: len(path)] == path:
            return self._take(path, self._goal[len(path)], "goes back to a candidate that was left aside")
        values, spent = await self._expand(task, steps, now, path)
        self._left.setdefault(path, {}).update(values)
        best = max(values, key=lambda action: values[action])
        listing = ", ".join(f"{action} ({value:g})" for action, value in values.items())
        return self._take(path, best, f"candidates and their values: {listing}", spent)

    def _best_left(self) -> Path:
        """The most valued candidate that was left aside, as the path that takes it; () if there is none."""
        candidates = [
            (value, -len(path), (*path, action))
            for path, actions in self._left.items()
            for action, value in actions.items()
        ]
        return max(candidates, key=lambda item: item[:2])[2] if candidates else ()

    def _take(self, path: Path, action: str, why: str, usage: Usage | None = None) -> Act:
        self._left.get(path, {}).pop(action, None)
        actions = self._tried.setdefault(path, [])
        if action not in actions:
            actions.append(action)
        return Act(action=action, planning=why, usage=usage or no_usage())

    async def _expand(
        self, task: str, steps: Sequence[TrajectoryStep], now: EnvironmentReply, path: Path
    ) -> tuple[dict[str, float], Usage]:
        """Candidates for the next action and their values."""
        shown = steps_shown(_seen_below(steps), self.max_observation)
        seen = {"task": task, "steps": shown, "now": now.observation}
        possible, tried = list(now.admissible), self._tried.get(path, [])
        proposed = await self.models.ask(
            role="policy",
            model=self.model,
            messages=prompt_messages(
                "debug_candidates", **seen, count=self.count, admissible=possible, tried=tried
            ),
            reply=reply_spec(Candidates),
            check=lambda reply: not_possible(reply.actions, possible),
        )
        actions = list(dict.fromkeys(proposed.reply.actions))[: self.count]
        if len(actions) == 1:
            return {actions[0]: 1.0}, proposed.usage
        valued = await self.models.ask(
            role="policy",
            model=self.model,
            messages=prompt_messages("debug_values", **seen, actions=actions),
            reply=reply_spec(CandidateValues),
            check=lambda reply: _not_all(reply, len(actions)),
        )
        return dict(zip(actions, valued.reply.values, strict=True)), total(proposed.usage, valued.usage)


def _not_all(reply: CandidateValues, wanted: int) -> str | None:
    got = len(reply.values)
    return (
        None if got == wanted else f"{got} values for {wanted} candidates: give one for each, in their order"
    )
