"""StableToolBench (Guo et al., 2024): its samples, tools and score."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from forethought.evals.benchmarks.stable_tool_bench.apis import apis_of
from forethought.evals.benchmarks.stable_tool_bench.data import SERVER, SETS, read_samples
from forethought.evals.benchmarks.stable_tool_bench.judging import WORTH, SolutionJudge, majority, preference
from forethought.evals.benchmarks.stable_tool_bench.reference import Solution, calls_of
from forethought.evals.benchmarks.stable_tool_bench.serving import ApiServer, api_tool, server_for
from forethought.evals.types import Attempt, Benchmark, Episode, Sample, Score, Services
from forethought.tools.base import Tool


class StableToolBench(Benchmark):
    """See `forethought.evals.types.Benchmark`."""

    name = "stabletoolbench"
    title = "StableToolBench"
    about = "765 solvable queries over simulated web APIs in six sets; Apache 2.0; MIRROR tables 1, 3 and 4"
    main_metric = "pass_rate"
    options: Mapping[str, str] = {
        "set": f"which sets, comma-separated: {', '.join(SETS)} or all (the default)",
        "server": f"address of the virtual API server (default {SERVER})",
        "cache": "folder tool_response_cache with recorded responses, instead of a server",
        "reference": "a reference method's answers, for the win rate: the results.jsonl of an evaluation",
        "judgements": "how often the judge's model judges each answer (default 3, as officially)",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        return read_samples(data, options)

    def episode(self, sample: Sample, services: Services) -> Episode | None:
        """None: calls change nothing. Raises InfrastructureError where nobody answers them."""
        _server(sample).check()
        return None

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """The APIs of the query."""
        server = _server(sample)
        return [api_tool(api, server) for api in apis_of(sample.data["apis"])]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """The pass rate over all judgements, and whether it wins against the reference, if that has one.

        Raises InfrastructureError where the API server is gone: calls then failed for no fault of the agent.
        """
        await asyncio.to_thread(_server(sample).check)
        judge, query, times = SolutionJudge(services), str(sample.data["query"]), sample.data["judgements"]
        ours = Solution(attempt.answer if attempt.status != "failed" else "", calls_of(attempt.trajectory))
        statuses = await judge.statuses(query, ours, times)
        verdict, told = majority(statuses), judge.reason
        values = {"pass_rate": fmean(WORTH[one] for one in statuses), "solved": float(verdict == "solved")}
        if kept := sample.data["reference"]:
            reference = Solution(kept["answer"], tuple(kept["calls"]))
            theirs = majority(await judge.statuses(query, reference, times))
            outcome = await preference(judge, query, (ours, verdict), (reference, theirs))
            values |= {"win_rate": float(outcome == "win"), "tie_rate": float(outcome == "tie")}
            told += f"\n{outcome} against the reference, which is {theirs}: {judge.reason}"
        return Score(values, told, verdict)

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """The average over the sets of the pass rates and win rates, as the papers' tables have it."""
        found: dict[str, float] = {}
        for metric in ("pass_rate", "win_rate"):
            by_set: dict[str, list[float]] = {}
            for sample, scores in scored:
                values = [score.values[metric] for score in scores if metric in score.values]
                by_set.setdefault(sample.groups["set"], []).extend(values)
            means = [fmean(values) for values in by_set.values() if values]
            if means:
                found[f"{metric}_set_average"] = fmean(means)
        return found


def _server(sample: Sample) -> ApiServer:
    return server_for(sample.data["server"], sample.data["cache"])


BENCHMARK = StableToolBench()
