"""Who says whether a run succeeded: the accepted answers, a model that knows them, or the environment.

A run is never judged by what it says of itself (AgentDebug, algorithm 1: Eval is given). The fourth judge, a
person, is asked in the debugger's graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forethought.models.ask import Models
from forethought.models.types import reply_spec
from forethought.prompts.debug_replies import AssertionVerdicts, Judgement, check_numbers
from forethought.prompts.render import prompt_messages
from forethought.rollouts.environment import replay_prefix
from forethought.rollouts.matching import same_answer
from forethought.rollouts.types import Environment, Evaluator, Verdict
from forethought.trajectories.types import Trajectory


@dataclass(frozen=True)
class GoldAnswer:
    """Right is an answer that is one of `accepted`, as `matching` compares them."""

    accepted: Sequence[str]
    name: str = "gold"

    def __post_init__(self) -> None:
        if not any(text.strip() for text in self.accepted):
            raise ValueError(
                "the expected answer is missing: give the one that a correct run would have given"
            )

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """See `Evaluator`."""
        if not trajectory.answer.strip():
            return Verdict(False, "the run has no answer")
        right = any(same_answer(trajectory.answer, text) for text in self.accepted if text.strip())
        return Verdict(right, f"the answer is {'' if right else 'not '}accepted")


@dataclass(frozen=True)
class ModelJudge:
    """A model that holds the answer against the accepted ones: wording aside, do they say the same?"""

    models: Models
    model: str
    accepted: Sequence[str]
    name: str = "model"

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """See `Evaluator`. What came before the answer is not shown: it could talk the judge round."""
        if not trajectory.answer.strip():
            return Verdict(False, "the run has no answer")
        messages = prompt_messages(
            "debug_judge", task=trajectory.task, gold=list(self.accepted), answer=trajectory.answer
        )
        result = await self.models.ask(
            role="judge",
            model=self.model,
            messages=messages,
            reply=reply_spec(Judgement),
        )
        # Its reasons name the accepted answer, which no later prompt may hold.
        right = result.reply.correct
        reason = f"a model judged the answer {'right' if right else 'wrong'}"
        return Verdict(right, reason, usage=result.usage)


@dataclass(frozen=True)
class RubricJudge:
    """A model that holds the answer against criteria; right is one that meets them all."""

    models: Models
    model: str
    criteria: Sequence[str]
    name: str = "rubric"

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """See `Evaluator`. As for `ModelJudge`, the judge sees the answer alone."""
        if not trajectory.answer.strip():
            return Verdict(False, "the run has no answer", share=0.0)
        result = await self.models.ask(
            role="judge",
            model=self.model,
            messages=prompt_messages(
                "rubric_judge", task=trajectory.task, criteria=list(self.criteria), answer=trajectory.answer
            ),
            reply=reply_spec(AssertionVerdicts),
            check=lambda reply: check_numbers(reply, len(self.criteria)),
        )
        # By their numbers: no later prompt may hold their text.
        unmet = [str(one.number) for one in result.reply.verdicts if not one.holds]
        met = len(self.criteria) - len(unmet)
        reason = f"{met} of {len(self.criteria)} criteria are met"
        reason += f"; not met: {', '.join(unmet)}" if unmet else ""
        return Verdict(not unmet, reason, share=met / len(self.criteria), usage=result.usage)


@dataclass(frozen=True)
class EnvironmentReward:
    """Right is a run whose actions, replayed, bring the environment's reward to `least`."""

    environment: Environment
    least: float = 1.0
    name: str = "environment"

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """See `Evaluator`. The environment stands at the trajectory's end afterwards."""
        replay = await replay_prefix(self.environment, trajectory.steps)
        verdict = self.of(replay.reply.reward)
        if replay.diverged:
            return Verdict(verdict.success, f"{verdict.reason}; {replay.diverged}", verdict.reward)
        return verdict

    def of(self, reward: float) -> Verdict:
        """The verdict on a run that ended with `reward`."""
        return Verdict(reward >= self.least, f"the reward is {reward:g}, {self.least:g} is needed", reward)


def evaluator_for(
    judge: str,
    *,
    accepted: Sequence[str] = (),
    models: Models | None = None,
    model: str = "",
    environment: Environment | None = None,
) -> Evaluator | None:
    """Who judges by the name `judge` (gold, model, environment, person, none); None where nobody in the
    program does or can: a person, no one, or what it takes is not given."""
    known = [text for text in accepted if text.strip()]
    if judge == "gold" and known:
        return GoldAnswer(known)
    if judge == "model" and known and models is not None:
        return ModelJudge(models, model, known)
    if judge == "environment" and environment is not None:
        return EnvironmentReward(environment)
    return None
