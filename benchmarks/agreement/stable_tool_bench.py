"""Holds our StableToolBench against its repository's code, as far as no model is needed.

    git clone https://github.com/THUNLP-MT/StableToolBench
    python benchmarks/agreement/stable_tool_bench.py --repo StableToolBench

Compared are the query sets; how each API of each query is named, on the wire, in the cache and to the agent;
the pass rate and the win rate over generated verdicts, run through its own scripts; and which answer wins for
every pair of verdicts. Needs openai, tenacity, tqdm, pandas, numpy and requests, as its scripts do. Exits
with 1 where something differs.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from forethought.evals.benchmarks.stable_tool_bench.apis import Api, apis_of
from forethought.evals.benchmarks.stable_tool_bench.benchmark import BENCHMARK
from forethought.evals.benchmarks.stable_tool_bench.data import SETS
from forethought.evals.benchmarks.stable_tool_bench.judging import (
    WORTH,
    Judge,
    Preference,
    Status,
    preference,
)
from forethought.evals.benchmarks.stable_tool_bench.reference import Solution
from forethought.evals.types import Sample, Services
from forethought.models.ask import Models
from forethought.models.types import no_usage
from forethought.settings import Settings

OFFICIAL = Path(__file__).with_name("stable_tool_bench_official.py")
STATUSES: tuple[Status, ...] = get_args(Status)
TIMES = 3


def official(repo: Path, job: dict[str, Any]) -> dict[str, Any]:
    """What the repository's code makes of the job."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(OFFICIAL), str(repo), folder],
            input=json.dumps(job),
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        sys.exit(f"the official code failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare_sets(repo: Path, samples: list[Sample]) -> list[str]:
    """The queries of each set against the ids that the repository lists."""
    amiss = []
    for name in SETS:
        listed = json.loads(
            (repo / "solvable_queries" / "test_query_ids" / f"{name}.json").read_text("utf-8")
        )
        ours = {sample.id.rpartition("-")[2] for sample in samples if sample.groups["set"] == name}
        print(f"{name}: {len(ours)} queries, {len(ours ^ set(listed))} differ from the listed ids")
        amiss += [f"{name} {key}" for key in ours ^ set(listed)]
    return amiss


def compare_names(samples: list[Sample], theirs: list[dict[str, Any]]) -> list[str]:
    """Each API's names and parameters, query by query."""
    amiss: list[str] = []
    counts: Counter[str] = Counter()
    named = iter(theirs)
    for sample in samples:
        apis = apis_of(sample.data["apis"])
        there = [next(named) for _ in apis]
        names = Counter(item["name"] for item in there)
        for api, item in zip(apis, there, strict=True):
            counts["APIs"] += 1
            fine = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", item["name"]) and names[item["name"]] == 1
            same = api.name == item["name"]
            counts["same function name" if same else "made valid or unique"] += 1
            if fine and not same:
                amiss.append(f"{sample.id}: {item['name']} is {api.name} here")
            file = f"{api.category}/{api.tool}_for_{api.category}/{api.api}.json"
            if file != item["file"]:
                amiss.append(f"{sample.id}: {item['file']} is {file} here")
            left_out, differing = compare_parameters(api, item)
            counts["optional parameters that the official inference leaves out"] += left_out
            amiss += [f"{sample.id}: parameters of {api.name}"] if differing else []
        if len({api.name for api in apis}) != len(apis):
            amiss.append(f"{sample.id}: two functions have one name")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return amiss


def compare_parameters(api: Api, item: dict[str, Any]) -> tuple[int, bool]:
    """How many optional ones the official inference leaves out, which it does where none is required; and
    whether the others differ. Its integers are numbers here."""
    listed = api.parameters["properties"].items()
    kinds = {key: value["type"].replace("number", "integer") for key, value in listed}
    if not item["properties"]:
        return len(kinds), False
    return 0, (kinds, sorted(api.parameters["required"])) != (item["properties"], item["required"])


class Fixed(Judge):
    """A judge that always prefers the same answer, wherever it stands."""

    def __init__(self, better: str) -> None:
        settings = Settings(base_url=None)
        super().__init__(Services(settings, Models(settings), "", ""), no_usage())
        self.preferred = f"answer of {better}"

    async def _compared(self, query: str, one: Solution, two: Solution) -> str:
        return "first" if one.answer == self.preferred else "second"


async def outcome(case: dict[str, Any]) -> Preference:
    """Who wins a case here."""
    ours, theirs = (Solution(f"answer of {who}") for who in ("ours", "theirs"))
    return await preference(Fixed(case["better"]), "q", (ours, case["ours"]), (theirs, case["theirs"]))


def main() -> int:
    """Compare and print; 1 where something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--repo", type=Path, required=True)
    repo = parser.parse_args().repo
    samples = BENCHMARK.samples(repo, {})
    dice = random.Random(0)
    verdicts = {f"q{n}": dice.choices(STATUSES, k=TIMES) for n in range(500)}
    outcomes = {key: dice.choice(get_args(Preference)) for key in verdicts}
    pairs = itertools.product(STATUSES, STATUSES, ("ours", "theirs"))
    cases = [{"ours": one, "theirs": two, "better": better} for one, two, better in pairs]
    apis = [item for sample in samples for item in sample.data["apis"]]
    job = {"apis": apis, "verdicts": verdicts, "outcomes": outcomes, "cases": cases, "times": TIMES}
    theirs = official(repo, job)
    amiss = compare_sets(repo, samples) + compare_names(samples, theirs["names"])
    mine = {
        "Solve rate": round(100 * fmean(fmean(WORTH[one] for one in got) for got in verdicts.values()), 1),
        "Win rate": sum(one == "win" for one in outcomes.values()) / len(outcomes),
        "Tie rate": sum(one == "tie" for one in outcomes.values()) / len(outcomes),
    }
    print(f"over 500 generated queries: officially {theirs['rates']}, here {mine}")
    amiss += [name for name in mine if abs(mine[name] - theirs["rates"].get(name, -1)) > 1e-9]
    for case, two in zip(cases, theirs["decisions"], strict=True):
        one = asyncio.run(outcome(case))
        amiss += [f"{case}: {one} here, officially {two}"] if one != two else []
    print(f"{len(cases)} pairs of verdicts and preferences decided")
    print("\n".join(amiss) or "nothing differs")
    return bool(amiss)


if __name__ == "__main__":
    sys.exit(main())
