"""tau2's own environments, in a process of their own: tools, databases, tasks and evaluators are its code.

    python -m forethought.evals.environments.checkouts.tau2 CHECKOUT DOMAIN SPLIT

The user is not its, and neither is the judge of natural-language assertions: what the one says and the other
finds is given with the requests. All else of a reward, and how its parts are combined, is decided by the
checkout's `evaluate_simulation`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from forethought.evals.environments.worker import serve_domain, stand_in, tool_spec

Json = dict[str, Any]
GREETING = "Hi! How can I help you today?"
"""What its orchestrator has the agent say before the user's first message."""


class Domain:
    """A domain and split of a checkout, with one episode at a time."""

    def __init__(self, domain: str, split: str) -> None:
        self.domain = domain
        self.own: Any = importlib.import_module(f"tau2.domains.{domain}.environment")
        self.message_types: Any = importlib.import_module("tau2.data_model.message")
        self.tasks: list[Any] = self.own.get_tasks(split)
        self.env: Any = self.own.get_environment()
        self.evaluator: Any = _evaluator(self.own.get_environment)
        self.messages: list[Any] = []
        self.task: Any = self.tasks[0] if self.tasks else None

    def describe(self) -> Json:
        """Tools, policy and tasks."""
        tools = self.env.get_tools()
        return {
            "tools": [
                tool_spec(
                    tool.openai_schema["function"], self._writes(tool.openai_schema["function"]["name"])
                )
                for tool in tools
            ],
            "policy": self.env.get_policy(),
            "tasks": [
                {**task.model_dump(mode="json"), "instruction": str(task.user_scenario)}
                for task in self.tasks
            ],
        }

    def reset(self, task: int) -> Json:
        """The world before the first step of a task."""
        self.task = self.tasks[task]
        self.env = self.own.get_environment()
        start = self.task.initial_state
        if start is not None:
            if start.message_history:
                raise ValueError(
                    f"task {self.task.id} starts in the middle of a conversation, which is not supported"
                )
            self.env.set_state(start.initialization_data, start.initialization_actions, [])
        self.messages = [self.message_types.AssistantMessage(role="assistant", content=GREETING)]
        return {}

    def open(self, reply: str) -> Json:
        """The user said `reply` first."""
        self.messages.append(self.message_types.UserMessage(role="user", content=reply))
        return {}

    def call(self, name: str, arguments: Json) -> Json:
        """Use a tool."""
        call = self.message_types.ToolCall(id=f"call-{len(self.messages)}", name=name, arguments=arguments)
        answer = self.env.get_response(call)
        self.messages += [self.message_types.AssistantMessage(role="assistant", tool_calls=[call]), answer]
        return {"observation": str(answer.content), "done": False, "reward": 0.0}

    def say(self, message: str, reply: str, ends: bool) -> Json:
        """The agent said `message`, and the user `reply`. `reward` is asked for once that ends it."""
        self.messages.append(self.message_types.AssistantMessage(role="assistant", content=message))
        self.messages.append(self.message_types.UserMessage(role="user", content=reply))
        return {"observation": reply, "done": False, "reward": 0.0}

    def reward(self, judged: Sequence[bool] | None = None) -> float:
        """What the episode is worth as it stands; `judged` says of each assertion whether it holds."""
        run_type: Any = importlib.import_module("tau2.data_model.simulation")
        moment = "2000-01-01T00:00:00"  # not looked at
        run = run_type.SimulationRun(
            id="episode",
            task_id=self.task.id,
            start_time=moment,
            end_time=moment,
            duration=0.0,
            termination_reason=run_type.TerminationReason.USER_STOP,
            messages=self.messages,
        )
        _Judged.verdicts = judged
        kind = self.evaluator.EvaluationType.ALL
        info = self.evaluator.evaluate_simulation(run, self.task, kind, solo_mode=False, domain=self.domain)
        return float(info.reward)

    def floor(self, task: int) -> float | None:
        """What doing nothing is worth; None where a judge would have to say."""
        self.reset(task)
        wanted = self.task.evaluation_criteria
        basis = [kind.value for kind in wanted.reward_basis] if wanted else []
        asserted = wanted.nl_assertions or [] if "NL_ASSERTION" in basis else []
        worth = self.reward([True] * len(asserted))
        return None if asserted and worth else worth

    def _writes(self, name: str) -> bool:
        return bool(getattr(self.env.tools.tool_type(name), "value", "write") == "write")


class _Judged:
    """In the place of its evaluator of assertions, which would ask a model: hands on what was judged."""

    verdicts: Sequence[bool] | None = None

    @classmethod
    def calculate_reward(cls, task: Any, full_trajectory: Any) -> Any:
        """See its evaluator: 1 if every assertion holds."""
        run_type: Any = importlib.import_module("tau2.data_model.simulation")
        kind: Any = importlib.import_module("tau2.data_model.tasks").RewardType.NL_ASSERTION
        asserted = task.evaluation_criteria.nl_assertions or []
        if len(asserted) != len(cls.verdicts or []):
            raise ValueError(
                f"{len(asserted)} assertions need the same number of verdicts, not {cls.verdicts}"
            )
        worth = float(all(cls.verdicts or []))
        return run_type.RewardInfo(reward=worth, nl_assertions=[], reward_breakdown={kind: worth})


def _evaluator(environment: Any) -> Any:
    """Its module `evaluator`, without the registry of all domains and without a judge that asks a model."""
    registry: Any = ModuleType("tau2.registry")
    registry.registry = SimpleNamespace(get_env_constructor=lambda domain: environment)
    assertions: Any = ModuleType("tau2.evaluator.evaluator_nl_assertions")
    assertions.NLAssertionsEvaluator = assertions.FullDuplexNLAssertionsEvaluator = _Judged
    sys.modules["tau2.registry"] = registry
    sys.modules["tau2.evaluator.evaluator_nl_assertions"] = assertions
    return importlib.import_module("tau2.evaluator.evaluator")


def main(checkout: str, domain: str, split: str) -> None:
    """Serve a domain of the checkout."""
    package = ModuleType("tau2")
    package.__path__ = [str(Path(checkout) / "src" / "tau2")]
    sys.modules["tau2"] = package  # its own __init__ would import agents, voices and runners
    stand_in(absent=("addict", "deepdiff", "litellm", "pandas", "toml"), quiet=("dotenv", "loguru"))
    serve_domain(Domain(domain, split))


if __name__ == "__main__":
    main(*sys.argv[1:])
