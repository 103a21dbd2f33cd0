"""tau2 (Barres et al. 2025): tau-bench's domains with mended tasks and rewards of several parts.

A task names the parts that its reward is the product of. All are supported: DB, ENV_ASSERTION, COMMUNICATE
and ACTION are computed by the checkout's own evaluators; for NL_ASSERTION the judge model says of each
statement whether it holds, with a prompt of ours; the checkout's `evaluate_simulation` combines the
parts.
"""

from __future__ import annotations

from forethought.evals.benchmarks.service import ServiceBenchmark


def _files(domain: str) -> tuple[str, ...]:
    code = [f"src/tau2/{name}.py" for name in (f"domains/{domain}/environment", "evaluator/evaluator")]
    data = [f"data/tau2/domains/{domain}/{name}" for name in ("db.json", "policy.md", "tasks.json")]
    return (*code, *data)


BENCHMARK = ServiceBenchmark(
    name="tau2",
    title="tau2-bench",
    about="tau-bench's shop and airline with mended tasks (MIT; from a checkout of "
    "sierra-research/tau2-bench); in none of the papers.",
    repository="sierra-research/tau2-bench",
    worker="tau2",
    steps=50,  # its 100 count the answers too
    splits={"retail": ("base", "train", "test"), "airline": ("base", "train", "test")},
    files={"retail": _files("retail"), "airline": _files("airline")},
)
