"""tau-bench (Yao et al. 2024): service desks of a shop and an airline, with a policy and a simulated user.

Reward as in its section 3: the final database is that after the gold actions, and what the agent said to the
user holds the required outputs. Both are computed by the checkout's own `calculate_reward`.
"""

from __future__ import annotations

from forethought.evals.benchmarks.service import ServiceBenchmark

_ENVS = "tau_bench/envs"


def _files(domain: str, *tables: str) -> tuple[str, ...]:
    own = [f"data/{table}.json" for table in tables] + ["env.py", "wiki.md", "tasks_test.py"]
    return (f"{_ENVS}/base.py", *(f"{_ENVS}/{domain}/{name}" for name in own))


BENCHMARK = ServiceBenchmark(
    name="tau-bench",
    title="tau-bench",
    about="Service desks of a shop and an airline with a simulated customer (MIT; from a checkout of "
    "sierra-research/tau-bench); SAMULE's tables use it.",
    repository="sierra-research/tau-bench",
    worker="tau_bench",
    steps=30,  # as its own agents have
    splits={"retail": ("test", "train", "dev"), "airline": ("test",)},
    files={
        "retail": _files("retail", "orders", "products", "users"),
        "airline": _files("airline", "flights", "reservations", "users"),
    },
)
