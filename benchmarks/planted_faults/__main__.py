"""Runs the planted faults with every mechanism on, and with each one off."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.planted_faults import held_out, world
from benchmarks.planted_faults.held_out_model import held_out as held_out_model
from benchmarks.planted_faults.model import planted
from tests.support.model_server import ModelServer

METHODS = (
    "ours",
    "ours-paper",
    "ours-low",
    "no-prospective-reflection",
    "no-planning-errors",
    "no-replanning",
    "no-plan-intra",
    "no-tool-intra",
    "no-answer-intra",
    "no-intra",
    "no-short-term",
    "no-long-term",
    "no-inter",
    "no-foresight",
)


def main() -> int:
    """Evaluate into --out. Returns the exit code of `forethought eval run`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted_faults", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the evaluation")
    parser.add_argument("--method", default=",".join(METHODS), help="methods, comma-separated")
    parser.add_argument("--held-out", action="store_true", help="the kinds that no rule was written for")
    parser.add_argument("--parallel", type=int, default=4)
    given = parser.parse_args()
    from forethought.app.main import run_cli

    module = held_out if given.held_out else world
    samples = module.BENCHMARK.samples(Path(), {})
    server = ModelServer(held_out_model(samples) if given.held_out else planted(samples))
    try:
        return run_cli(
            [
                *("eval", "run", f"{module.__name__}:BENCHMARK", "--method", given.method),
                *("--out", str(given.out), "--parallel", str(given.parallel), "--scripted", "--yes"),
                *("--model", "openai:scripted", "--base-url", server.url),
            ]
        )
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
