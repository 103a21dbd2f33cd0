"""Runs parts of StableToolBench's own code, in a process of its own: its names are not ours.

    python stable_tool_bench_official.py REPO FOLDER < job.json > result.json

The job holds the verdicts, outcomes and decisions that a judge would give; nothing is asked of a model. Its
scripts for the pass rate and the win rate run as they are, with a judge that hands out what the job says.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import runpy
import sys
import types
from pathlib import Path
from typing import Any


def function_of(path: Path, name: str, scope: dict[str, Any]) -> Any:
    """One function of a file whose other imports are not wanted."""
    tree = ast.parse(path.read_text("utf-8"))
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    exec(compile(ast.Module([found], []), str(path), "exec"), scope)
    return scope[name]


def names(repo: Path, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How inference and server name each API."""
    scope = runpy.run_path(str(repo / "server" / "utils.py"))
    make = function_of(
        repo / "toolbench/inference/Downstream_tasks/rapidapi_multithread.py",
        "api_json_to_openai_json",
        scope,
    )
    prepare = function_of(repo / "server" / "main.py", "prepare_tool_name_and_url", scope)
    found = []
    for item in listed:
        tool = scope["standardize"](item["tool_name"])
        shown, category, api = make(None, item, tool)
        sent = types.SimpleNamespace(category=category, tool_name=tool, api_name=api)
        folder, its_category, its_api, _ = prepare(sent)
        parameters = shown["function"]["parameters"]
        found.append(
            {
                "name": shown["function"]["name"],
                "file": f"{its_category}/{folder}/{its_api}.json",
                "required": sorted(set(parameters["required"]) - {""}),
                "properties": {key: value["type"] for key, value in parameters["properties"].items()},
            }
        )
    return found


class Judge:
    """Hands out what the job says, whatever is asked."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.verdicts = {key: iter(values) for key, values in job["verdicts"].items()}
        self.outcomes = job["outcomes"]

    def check_is_solved(
        self, task: dict[str, Any], answer: Any, return_reason: bool = False
    ) -> tuple[Any, str]:
        from evaluators.registered_cls.rtl import AnswerStatus  # type: ignore[import-not-found]

        return AnswerStatus(next(self.verdicts[task["query"]]).capitalize()), ""

    def annotate_preference(self, query: str, *_: Any, **__: Any) -> int:
        return {"loss": 0, "win": 1, "tie": 2}[self.outcomes[query]]


def converted(keys: list[str]) -> dict[str, Any]:
    """Converted predictions, each ending with Finish; a query is its own id."""
    end = {"role": "tool", "message": "{'name': 'Finish'}", "next": []}
    details = [{"role": "system", "message": "", "next": [end]}]
    answer = {"final_answer": "An answer.", "answer_details": details}
    return {key: {"query": key, "available_tools": [{"name": "a"}], "answer": answer} for key in keys}


def rates(repo: Path, folder: Path, job: dict[str, Any]) -> dict[str, float]:
    """Its pass rate, win rate and tie rate, in percent and shares as it prints them."""
    import evaluators  # type: ignore[import-not-found]

    judge, keys = Judge(job), list(job["verdicts"])
    evaluators.load_registered_automatic_evaluator = lambda **_: judge
    sys.modules["backoff"] = types.SimpleNamespace(on_exception=lambda *_, **__: lambda f: f, expo=None)  # type: ignore[assignment]
    for part in ("ids", "ours", "theirs", "out"):
        (folder / part).mkdir()
    (folder / "ids" / "S.json").write_text(json.dumps(dict.fromkeys(keys, 0)))
    for method in ("ours", "theirs"):
        (folder / method / "S.json").write_text(json.dumps(converted(keys)))
    common = ["--converted_answer_path", str(folder), "--test_ids", str(folder / "ids"), "--test_set", "S"]
    common += ["--max_eval_threads", "1"]
    passing = ["--evaluate_times", str(job["times"]), "--reference_model", "ours"]
    said = script(repo, "eval_pass_rate.py", [*common, *passing, "--save_path", str(folder / "ours")])
    (folder / "theirs" / "S_theirs.csv").write_text((folder / "ours" / "S_ours.csv").read_text())
    winning = ["--evaluate_times", "1", "--reference_model", "theirs", "--output_model", "ours"]
    winning += ["--pass_rate_result_path", str(folder), "--use_pass_rate", "true"]
    said += script(repo, "eval_preference.py", [*common, *winning, "--save_path", str(folder / "out")])
    found = {name: re.search(rf"{name}: ([\d.]+)", said) for name in ("Solve rate", "Win rate", "Tie rate")}
    return {name: float(match[1].rstrip(".")) for name, match in found.items() if match}


def script(repo: Path, name: str, arguments: list[str]) -> str:
    """What one of its scripts prints."""
    sys.argv = [name, *arguments]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        runpy.run_path(str(repo / "toolbench/tooleval" / name), run_name="__main__")
    return out.getvalue()


def decisions(cases: list[dict[str, Any]]) -> list[str]:
    """Which of two answers its evaluator prefers, given both verdicts and what a comparison would say."""
    from evaluators.registered_cls.rtl import ReinforceToolLearningEvaluator

    made = []
    for case in cases:
        judge = ReinforceToolLearningEvaluator.__new__(ReinforceToolLearningEvaluator)
        status = {f"answer of {who}": case[who].capitalize() for who in ("ours", "theirs")}

        def call(name: str, values: dict[str, Any], return_reason: bool = False, better: str = case["better"],
                 status: dict[str, str] = status) -> dict[str, Any]:  # fmt: skip
            if name == "select_better_answer":
                return {"index": 0 if f"answer of {better}" in values["answer_0"] else 1, "reason": ""}
            kind = values.get("answer", "")
            found = next((value for key, value in status.items() if key in kind), "Solvable")
            return {"answer_status": found, "task_status": "Solvable", "reason": ""}

        judge.function_call = call
        answers = [{"final_answer": f"answer of {who}", "answer_details": ""} for who in ("ours", "theirs")]
        index = judge.normalized_openai_completions(
            {"query": "q", "available_tools": []}, answers, None, [None, None]
        )
        made.append(("win", "loss")[index])
    return made


def main() -> None:
    """Carry out the job."""
    repo, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    job = json.load(sys.stdin)
    sys.path.insert(0, str(repo / "toolbench" / "tooleval"))
    found = {
        "names": names(repo, job["apis"]),
        "rates": rates(repo, folder, job),
        "decisions": decisions(job["cases"]),
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
