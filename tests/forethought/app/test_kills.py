"""A kill of each sort of real processes: `benchmarks/kills.py` has the whole of it (make test-kills)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
def test_killed_processes_do_nothing_twice_and_lose_nothing() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.kills", "--kills", "1", "--exec", "0"]
    done = subprocess.run(
        [*command, "--seed", "3"], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    total = done.stdout.splitlines()[-1].split("|")
    assert total[1].strip() == "all"
    kills, asked, wrong = (int(total[at]) for at in (3, 4, 7))
    assert kills >= 4
    assert asked >= 1, "a kill fell between an effect and its result"
    assert wrong == 0
