"""Reading StableToolBench's query sets into samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from forethought.evals.benchmarks.reading import Source, check_unique, find, json_of, whole_number
from forethought.evals.benchmarks.stable_tool_bench.apis import apis_of
from forethought.evals.benchmarks.stable_tool_bench.reference import Solution, read_references
from forethought.evals.types import DataError, Sample

SETS = ("G1_instruction", "G1_category", "G1_tool", "G2_instruction", "G2_category", "G3_instruction")
"""The benchmark's files; its papers call them I1-Instruction and so on."""
SOURCE = Source("Clone github.com/THUNLP-MT/StableToolBench and name its folder (Apache 2.0)")
SERVER = "http://localhost:8080/virtual"
FOLDERS = ("solvable_queries/test_instruction", "test_instruction", "")
JUDGEMENTS = 3
_ALIASES = {f"i{name[1:]}".casefold().replace("_", "-"): name for name in SETS}


def sets_of(named: str) -> list[str]:
    """The sets of an option such as all, G1_tool or I1-Tool,I3-Instruction. Raises DataError."""
    if named == "all":
        return list(SETS)
    known = {**{name.casefold(): name for name in SETS}, **_ALIASES}
    found = []
    for part in filter(None, (part.strip() for part in named.split(","))):
        if part.casefold() not in known:
            raise DataError(f"there is no set {part}; there are {', '.join(SETS)}, and all")
        found.append(known[part.casefold()])
    return list(dict.fromkeys(found))


def read_samples(folder: Path, options: Mapping[str, str]) -> list[Sample]:
    """The solvable queries of the sets asked for, in the files' order. Raises DataError."""
    server, cache = options.get("server", SERVER), options.get("cache", "")
    if urlsplit(server).scheme not in ("http", "https"):
        raise DataError(f"option server={server}: give an address such as {SERVER}")
    answering = {"server": server, "cache": str(Path(cache).expanduser().resolve()) if cache else ""}
    kept = {**answering, "judgements": whole_number(options, "judgements") or JUDGEMENTS}
    names = sets_of(options.get("set", "all"))
    return [sample for name in names for sample in _samples(folder, name, kept, options.get("reference", ""))]


def _samples(folder: Path, name: str, kept: Mapping[str, Any], reference: str) -> list[Sample]:
    path = find(folder, (f"{name}.json",), SOURCE, FOLDERS)
    solutions: dict[str, Solution] = read_references(Path(reference).expanduser(), name) if reference else {}
    samples = []
    for place, item in _queries(path):
        try:
            query, key, listed = str(item["query"]).strip(), str(item["query_id"]), list(item["api_list"])
            apis_of(listed)
        except KeyError as error:
            raise SOURCE.fault(place, f"there is no {error.args[0]}") from error
        except (TypeError, DataError) as error:
            raise SOURCE.fault(place, str(error)) from error
        solution = solutions[key].json() if key in solutions else None
        data = {**kept, "query": query, "apis": listed, "reference": solution}
        samples.append(Sample(id=f"{name}-{key}", task=query, groups={"set": name}, data=data))
    check_unique([sample.id for sample in samples], path, SOURCE)
    return samples


def _queries(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    value = json_of(path, SOURCE)
    if not isinstance(value, list) or not value:
        raise SOURCE.fault(str(path), "the file must hold a JSON list of queries")
    for number, item in enumerate(value, 1):
        if not isinstance(item, Mapping):
            raise SOURCE.fault(f"{path}, query {number}", "a query is an object")
        yield f"{path}, query {number}", item
