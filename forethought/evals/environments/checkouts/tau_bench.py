"""tau-bench's own environments, in a process of their own: tools, databases, tasks and reward are its code.

    python -m forethought.evals.environments.checkouts.tau_bench CHECKOUT DOMAIN SPLIT

The user is not its: what the user says is given with each request.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from forethought.evals.environments.worker import serve_domain, stand_in, tool_spec

Json = dict[str, Any]
STOP = "###STOP###"
_READS = ("get_", "find_", "list_", "search_", "calculate", "think")
"""The domains do not mark their tools; these change nothing."""


class _ToldUser:
    """A user that says what it is told to."""

    def __init__(self) -> None:
        self.says = ""

    def reset(self, instruction: str | None = None) -> str:
        return self.says

    def step(self, content: str) -> str:
        return self.says

    def get_total_cost(self) -> float:
        return 0.0


class Domain:
    """A domain and split of a checkout, with one episode at a time."""

    def __init__(self, domain: str, split: str) -> None:
        self.user = _ToldUser()
        base: Any = importlib.import_module("tau_bench.envs.base")
        base.load_user = lambda **options: self.user
        envs: Any = importlib.import_module("tau_bench.envs")
        self.action: Any = importlib.import_module("tau_bench.types").Action
        self.env: Any = envs.get_env(domain, "told", "", split, task_index=0)

    def describe(self) -> Json:
        """Tools, policy and tasks."""
        return {
            "tools": [
                tool_spec(info["function"], not info["function"]["name"].startswith(_READS))
                for info in self.env.tools_info
            ],
            "policy": self.env.wiki,
            "tasks": [task.model_dump() for task in self.env.tasks],
        }

    def reset(self, task: int) -> Json:
        """The world before the first step of a task."""
        self.user.says = ""
        self.env.reset(task_index=task)
        return {}

    def open(self, reply: str) -> Json:
        """The user said `reply` first; the reward does not ask for it."""
        return {}

    def call(self, name: str, arguments: Json) -> Json:
        """Use a tool."""
        if name not in self.env.tools_map:
            return {"observation": f"There is no tool {name}.", "done": False, "reward": 0.0}
        return self._step(name, arguments)

    def say(self, message: str, reply: str, ends: bool) -> Json:
        """The agent said `message`, and the user `reply`."""
        self.user.says = f"{reply} {STOP}" if ends else reply
        return self._step("respond", {"content": message})

    def reward(self, judged: object = None) -> float:
        """What the episode is worth as it stands; it is over afterwards. There is nothing to judge."""
        self.user.says = ""
        return float(self.env.calculate_reward().reward)

    def floor(self, task: int) -> float:
        """What doing nothing is worth."""
        self.reset(task)
        return self.reward()

    def _step(self, name: str, arguments: Json) -> Json:
        response = self.env.step(self.action(name=name, kwargs=arguments))
        reward = float(response.info.reward_info.reward) if response.done else 0.0
        return {"observation": str(response.observation), "done": response.done, "reward": reward}


def main(checkout: str, domain: str, split: str) -> None:
    """Serve a domain of the checkout."""
    sys.path.insert(0, checkout)
    stand_in(absent=("litellm",))
    serve_domain(Domain(domain, split))


if __name__ == "__main__":
    main(*sys.argv[1:])
