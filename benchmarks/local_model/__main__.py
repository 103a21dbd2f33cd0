"""`python -m benchmarks.local_model --python PYTHON`: runs on two local servers, in figures.

PYTHON is the interpreter of the environment that has the servers. Exits with 1 if a run took too long, broke
off, or wrote a reply beyond its limit. Right answers are not expected of 135 million parameters.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.local_model.servers import WINDOW, running
from forethought.app.report import exit_code
from forethought.models.limits import reply_limit

LONGEST_RUN_S = 120.0
LONGEST_DOCTOR_S = 60.0
BUDGET_S = 45
"""Seconds that each run is given; calls that are under way may still end."""
HONEST = ("answered", "best_effort", "budget_exhausted", "failed", "interrupted")
TASKS = (
    ("trivial", "What is 2 + 3? Answer with the number.", ()),
    ("file", "Which fruit costs most?", ("prices.csv",)),
    ("tool", "Use the python tool to calculate 17 * 23.", ()),
)
PRICES = "fruit,price\napple,2\npear,3\ncherry,9\n"


@dataclass
class Ran:
    """One run, in figures."""

    server: str
    task: str
    seconds: float
    status: str
    exit: int
    replies: int = 0
    tokens: int = 0
    cut: int = 0
    longest: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> int:
    """Run all, print a table. Returns the exit code."""
    given = _arguments()
    ran: list[Ran] = []
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.servers:
        with running(name, given.python, given.threads, given.out / f"{name}.log") as url:
            doctor = _doctor(url, given.out / f"{name}-doctor.json")
            print(f"{name}: doctor --model took {doctor:.1f} s", flush=True)
            for number in range(given.runs):
                ran.append(_run(name, url, number, given.out))
                print(_line(ran[-1]), flush=True)
            if doctor > LONGEST_DOCTOR_S:
                ran[-1].problems.append(f"doctor took {doctor:.0f} s")
    (given.out / "runs.json").write_text(json.dumps([asdict(each) for each in ran], indent=1))
    print(_table(ran))
    return 1 if any(each.problems for each in ran) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.local_model")
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20, help="runs on each server")
    parser.add_argument("--servers", nargs="+", default=["llama.cpp", "llama-cpp-python"])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--out", type=Path, default=Path("build/local-model"))
    return parser.parse_args()


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "forethought", *words, "--json"]


def _doctor(url: str, out: Path) -> float:
    started = time.monotonic()
    command = _command("doctor", "--model", "smol", "--base-url", url)
    environment = {**os.environ, "FORETHOUGHT_DATA_DIR": str(out.parent / "data")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    out.write_text(done.stdout or done.stderr)
    return time.monotonic() - started


def _run(server: str, url: str, number: int, out: Path) -> Ran:
    kind, task, files = TASKS[number % len(TASKS)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "prices.csv").write_text(PRICES)
        record = out / f"{server}-{number}.jsonl"
        command = _command("run", task, "--base-url", url, "--model", "smol", "--record", str(record))
        command += [
            "--set",
            f"context_tokens={WINDOW}",
            "--set",
            f"max_seconds={BUDGET_S}",
            *(word for name in files for word in ("--file", name)),
        ]
        environment = {**os.environ, "FORETHOUGHT_DATA_DIR": str((out / "data").absolute())}
        command[command.index("--record") + 1] = str(record.absolute())
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            output, errors = process.communicate(timeout=LONGEST_RUN_S * 2)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        seconds = time.monotonic() - started
    (out / f"{server}-{number}.txt").write_text(f"{output}\n{errors}")
    return _judged(Ran(server, kind, round(seconds, 1), "", process.returncode), output, errors, record)


def _judged(ran: Ran, output: str, errors: str, record: Path) -> Ran:
    """The run with its figures and its problems."""
    try:
        result: dict[str, Any] = json.loads(output)
    except ValueError:
        result = {}
    ran.status = result.get("status", "")
    ran.cut = (result.get("usage") or {}).get("cut", 0)
    if ran.seconds > LONGEST_RUN_S:
        ran.problems.append(f"took {ran.seconds} s")
    if ran.status not in HONEST or exit_code(ran.status) != ran.exit:
        ran.problems.append(f"status {ran.status!r} with exit {ran.exit}: {errors.strip()[-200:]}")
    if "Traceback" in output + errors:
        ran.problems.append("a traceback")
    for line in record.read_text().splitlines() if record.exists() else ():
        reply = json.loads(line)
        if "reply" in reply:
            tokens, limit = reply["usage"]["output_tokens"], reply_limit(reply["role"], WINDOW)
            ran.replies, ran.tokens = ran.replies + 1, ran.tokens + tokens
            ran.longest = max(ran.longest, tokens)
            if tokens > limit * 1.05:
                ran.problems.append(f"a reply of {tokens} tokens; the limit of {reply['role']} is {limit}")
    return ran


def _line(ran: Ran) -> str:
    figures = (
        f"{ran.seconds:6.1f} s  {ran.status:<10} {ran.replies} replies, {ran.tokens} tokens, {ran.cut} cut"
    )
    return f"{ran.server:<17} {ran.task:<8} {figures}  {'; '.join(ran.problems)}"


def _table(ran: list[Ran]) -> str:
    lines = ["| server | runs | statuses | longest run | replies | cut | longest reply | problems |"]
    lines += ["| --- " * 8 + "|"]
    for server in dict.fromkeys(each.server for each in ran):
        own = [each for each in ran if each.server == server]
        statuses = ", ".join(
            f"{count} {name}" for name, count in Counter(each.status for each in own).items()
        )
        cells = [
            *(server, len(own), statuses, f"{max(each.seconds for each in own)} s"),
            *(sum(each.replies for each in own), sum(each.cut for each in own)),
            *(max(each.longest for each in own), sum(len(each.problems) for each in own)),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
