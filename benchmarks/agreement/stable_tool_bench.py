"""StableToolBench's query sets, and how each API is named: on the wire, in the cache, to the agent.

The checkout is THUNLP-MT/StableToolBench. Its pass rate and win rate are means over a judge's verdicts.
"""

from __future__ import annotations

import ast
import json
import re
import runpy
import types
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Comparison
from forethought.evals.benchmarks.stable_tool_bench.apis import Api, apis_of
from forethought.evals.benchmarks.stable_tool_bench.benchmark import BENCHMARK
from forethought.evals.benchmarks.stable_tool_bench.data import SETS

_USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def _function(path: Path, name: str, scope: dict[str, Any]) -> Any:
    """One function of a file whose other imports are not wanted."""
    tree = ast.parse(path.read_text("utf-8"))
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    exec(compile(ast.Module([found], []), str(path), "exec"), scope)
    return scope[name]


class _Official:
    """How the repository's inference and server name an API."""

    def __init__(self, repo: Path) -> None:
        self._scope = runpy.run_path(str(repo / "server" / "utils.py"))
        inference = repo / "toolbench/inference/Downstream_tasks/rapidapi_multithread.py"
        self._make = _function(inference, "api_json_to_openai_json", self._scope)
        self._prepare = _function(repo / "server/main.py", "prepare_tool_name_and_url", self._scope)

    def api(self, item: Mapping[str, Any]) -> tuple[str, str, dict[str, str], list[str]]:
        """The function's name, the file of the cache, the types of parameters, the required ones."""
        tool = self._scope["standardize"](item["tool_name"])
        shown, category, api = self._make(None, item, tool)
        sent = types.SimpleNamespace(category=category, tool_name=tool, api_name=api)
        folder, its_category, its_api, _ = self._prepare(sent)
        parameters = shown["function"]["parameters"]
        kinds = {key: value["type"] for key, value in parameters["properties"].items()}
        file = f"{its_category}/{folder}/{its_api}.json"
        return shown["function"]["name"], file, kinds, sorted(set(parameters["required"]) - {""})


def _parameters(api: Api) -> tuple[dict[str, str], list[str]]:
    listed = api.parameters["properties"].items()
    kinds = {key: value["type"].replace("number", "integer") for key, value in listed}
    return kinds, sorted(api.parameters["required"])


def compare(stable_tool_bench: Path) -> Iterable[Comparison]:
    """Queries by their ids, and each API's names and parameters."""
    official, samples = _Official(stable_tool_bench), BENCHMARK.samples(stable_tool_bench, {})
    queries = Comparison("StableToolBench, queries listed in test_query_ids")
    for name in SETS:
        ids = json.loads((stable_tool_bench / f"solvable_queries/test_query_ids/{name}.json").read_text())
        ours = {sample.id.rpartition("-")[2] for sample in samples if sample.groups["set"] == name}
        for key in {*ids, *ours}:
            queries.add(key in ids, key in ours, f"{name} {key}")
    names, files, parameters = (
        Comparison(f"StableToolBench, {what}")
        for what in ("names as functions", "names on the wire and in the cache", "parameters")
    )
    for sample in samples:
        apis = apis_of(sample.data["apis"])
        theirs = [official.api(item) for item in sample.data["apis"]]
        counts = Counter(name for name, *_ in theirs)
        for api, (name, file, kinds, required) in zip(apis, theirs, strict=True):
            usable = _USABLE.fullmatch(name) and counts[name] == 1
            names.add(name, api.name, sample.id, "unexplained" if usable else "not valid or not unique there")
            files.add(file, f"{api.category}/{api.tool}_for_{api.category}/{api.api}.json", sample.id)
            reason = "unexplained" if kinds else "its inference forgets optional ones where none is required"
            parameters.add((kinds, required), _parameters(api), f"{sample.id} {api.name}", reason)
    return [queries, names, files, parameters]
