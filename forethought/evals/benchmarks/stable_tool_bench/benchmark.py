"""StableToolBench (Guo et al. 2024): queries over simulated web APIs, and their solvable pass rate.

MIRROR's tables 1 and 3 report it. Calls are answered by the benchmark's own API server, which the user runs;
an answer is judged by a model, as in the official evaluation, with prompts of ours.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from forethought.evals.benchmarks.reading import (
    Source,
    check_unique,
    choice,
    find,
    json_of,
    rows_of,
)
from forethought.evals.benchmarks.stable_tool_bench.apis import apis_of
from forethought.evals.benchmarks.stable_tool_bench.server import api_tool, check_server
from forethought.evals.prompts.judge_replies import AnswerStatus
from forethought.evals.types import Attempt, Benchmark, DataError, Episode, Sample, Score, Services
from forethought.tools.base import Tool
from forethought.trajectories.types import Trajectory

SETS = ("G1_instruction", "G1_category", "G1_tool", "G2_instruction", "G2_category", "G3_instruction")
"""The benchmark's files; its papers call them I1-Instruction and so on."""
SOURCE = Source("Clone github.com/THUNLP-MT/StableToolBench and name its folder (Apache 2.0)")
SERVER = "http://localhost:8080/virtual"
FOLDERS = ("solvable_queries/test_instruction", "test_instruction", "")
JUDGEMENTS = 3
"""Verdicts per answer, as in the official evaluation."""
Status = Literal["solved", "unsure", "unsolved"]
WORTH: Mapping[Status, float] = {"solved": 1.0, "unsure": 0.5, "unsolved": 0.0}
"""A verdict's weight in the pass rate."""
_CALLS = 12_000
"""Maximum characters of the calls shown to the judge."""


class _Row(BaseModel):
    query: str = Field(min_length=1)
    query_id: int | str
    api_list: list[dict[str, Any]]


class StableToolBench(Benchmark):
    """See the module."""

    name = "stabletoolbench"
    title = "StableToolBench"
    about = "765 solvable queries over simulated web APIs in six sets; Apache 2.0; MIRROR tables 1, 3 and 4"
    main_metric = "pass_rate"
    options: Mapping[str, str] = {
        "set": f"all (default), or one of {', '.join(SETS)}",
        "server": f"address of the virtual API server (default {SERVER})",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The solvable queries, in the files' order."""
        wanted, server = choice(options, "set", ("all", *SETS)), options.get("server", SERVER)
        if urlsplit(server).scheme not in ("http", "https"):
            raise DataError(f"option server={server}: give an address such as {SERVER}")
        names = SETS if wanted == "all" else (wanted,)
        return [sample for name in names for sample in _read(data, name, server)]

    def episode(self, sample: Sample, services: Services) -> Episode | None:
        """None: calls change nothing. Raises InfrastructureError where nobody answers them."""
        check_server(sample.data["server"])
        return None

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """The APIs of the query."""
        return [api_tool(api, sample.data["server"]) for api in apis_of(sample.data["apis"])]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """The pass rate over all judgements.

        Raises InfrastructureError where the API server is gone: calls then failed for no fault of the agent.
        """
        await asyncio.to_thread(check_server, sample.data["server"])
        if attempt.status == "failed" or not attempt.answer.strip():
            return Score({"pass_rate": 0.0, "solved": 0.0}, "there is no answer", "unsolved")
        verdicts = [await _judge(services, sample, attempt) for _ in range(JUDGEMENTS)]
        label = majority([verdict.status for verdict in verdicts])
        rate = fmean(WORTH[verdict.status] for verdict in verdicts)
        return Score({"pass_rate": rate, "solved": float(label == "solved")}, verdicts[-1].reason, label)

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """The average over the sets of the pass rates, as the papers' tables have it."""
        by_set: dict[str, list[float]] = {}
        for sample, scores in scored:
            by_set.setdefault(sample.groups["set"], []).extend(score.values["pass_rate"] for score in scores)
        means = [fmean(rates) for rates in by_set.values() if rates]
        return {"pass_rate_set_average": fmean(means)} if means else {}


async def _judge(services: Services, sample: Sample, attempt: Attempt) -> AnswerStatus:
    """An answer is judged by itself; where that does not tell, what was done for it is looked at."""
    values = {"query": sample.task, "answer": attempt.answer}
    verdict = await services.ask("judge", "stb_answer", AnswerStatus, **values)
    if verdict.status == "unsure":
        values["calls"] = shown_calls(attempt.trajectory)
        verdict = await services.ask("judge", "stb_execution", AnswerStatus, **values)
    return verdict


def majority(statuses: Sequence[Status]) -> Status:
    """The most frequent verdict; unsure where two are equally frequent."""
    (first, most), *others = Counter(statuses).most_common(2)
    return "unsure" if others and others[0][1] == most else first


def shown_calls(trajectory: Trajectory) -> str:
    """The calls of a run for a judge; the middle is left out where they are long."""
    calls = [f"{step.action}\n-> {step.observation}" for step in trajectory.steps if step.action]
    text = "\n\n".join(f"{number}. {call}" for number, call in enumerate(calls, 1))
    if len(text) <= _CALLS:
        return text or "(no calls)"
    return f"{text[: _CALLS // 2]}\n[...]\n{text[-_CALLS // 2 :]}"


def _read(folder: Path, name: str, server: str) -> list[Sample]:
    path = find(folder, (f"{name}.json",), SOURCE, FOLDERS)
    samples = []
    for row in rows_of(_Row, json_of(path, SOURCE), path, SOURCE):
        try:
            apis_of(row.api_list)
        except DataError as error:
            raise SOURCE.fault(f"{path}, query {row.query_id}", str(error)) from error
        data = {"server": server, "apis": row.api_list}
        samples.append(Sample(f"{name}-{row.query_id}", row.query.strip(), groups={"set": name}, data=data))
    check_unique([sample.id for sample in samples], path, SOURCE)
    return samples


BENCHMARK = StableToolBench()
