"""The end of a process whose plain (not async) tools are still at work: they are not waited for."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.runner import open_runner
from tests.forethought.app.conftest import Cli
from tests.forethought.app.scripted import choice
from tests.support.model_server import SeenRequest
from tests.support.processes import ROOT

Scripted = Callable[..., Any]
TOOLS = '''
import atexit, pathlib, time

def wait_long(what: str) -> str:
    """Wait for a long time.

    Args:
        what: What for.
    """
    atexit.register(pathlib.Path("left").touch)
    pathlib.Path("begun").touch()
    time.sleep(60)
    return what
'''


@pytest.mark.parametrize(
    ("signals", "code", "said"),
    [
        ([signal.SIGTERM], 0, ["stopped by SIGTERM, with calls broken off; continue"]),
        ([signal.SIGINT], 130, ["interrupted; continue"]),
    ],
    ids=["SIGTERM", "Ctrl-C"],
)
def test_a_plain_tool_holds_no_process_up(
    cli: Cli,
    scripted: Scripted,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    signals: list[signal.Signals],
    code: int,
    said: list[str],
) -> None:
    script, _ = scripted()

    def toolchoice(seen: SeenRequest) -> Any:
        return choice("call", tool="wait_long", arguments={"what": "it"})

    script.toolchoice = toolchoice
    (tmp_path / "slow_tools.py").write_text(TOOLS)
    monkeypatch.setenv("FORETHOUGHT_TOOLS", "slow_tools")
    monkeypatch.setenv("FORETHOUGHT_DRAIN_S", "0.1")
    process = subprocess.Popen(
        [sys.executable, "-m", "forethought", "run", "Wait", "--thread", "t1"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.05 if len(signals) > 1 else 0)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == code, err
    for line, want in zip(err.splitlines(), said, strict=True):
        assert line.startswith(f"forethought: {want}")
    assert err.endswith("with: forethought resume t1\n")
    if len(signals) == 1:
        assert (tmp_path / "left").exists(), "what is to be done at the end of a process is done"
    assert cli("show", "t1", "--json").json["status"] == "stopped"


def test_the_loops_end_waits_for_no_thread() -> None:
    started = time.monotonic()
    with open_runner(as_json=False) as runner:

        async def work() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.to_thread(time.sleep, 5), 0.05)

        runner.run(work())
    assert time.monotonic() - started < 4
