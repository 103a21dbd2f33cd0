"""One task of a thousand steps: the database's growth, a step's time and the longest prompt as it goes on.

    python -m benchmarks.thousand_steps --steps 1000

The model answers at once, and each tool returns 1 KB, so what is timed is the agent itself and its database:
the processor's time, which other programs do not lengthen. Every round plans 20 subtasks of five calls, four
side by side; each round's answer scores too low until the steps are spent. There is a budget of tokens, as
there is by default, so at each step is measured what the answer will take. Exits with 1 where a step adds
more than 1.2 times the bytes that one added between the marks before, or takes more than three times as long
as one did at the mark before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forethought.graph.agent import build_agent
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.storage import open_threads
from forethought.storage.address import file_address
from forethought.tools.base import make_tool
from tests.support.replies import answer, call, diagnosis, plan, sub

SUBTASKS, CALLS = 20, 5
KILOBYTE = "a fact and what follows from it; " * 32
MOST_BYTES, MOST_SECONDS = 1.2, 3.0
"""How many times what a step added between the marks before, and what one took at the mark before."""
MAX_TOKENS = 10**9
_AROUND = 40
"""Steps over which a step's time is averaged."""


@dataclass
class Model:
    """Answers at once."""

    plans: int = 0
    called: dict[str, int] = field(default_factory=dict)
    longest: int = 0
    """Characters of the longest prompt since this was last looked at."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """See `Transport`."""
        self.longest = max(self.longest, sum(len(message.text) for message in request.messages))
        return ModelReply(json.dumps(self._reply(request)), model="scripted", usd=0.0)

    def _reply(self, request: ModelRequest) -> Any:
        if request.reply == "Plan":
            self.plans += 1
            return plan(*(sub(f"p{self.plans}s{number}") for number in range(SUBTASKS)))
        if request.reply == "PlanDiagnosis":
            return diagnosis()
        if request.reply == "AnswerDraft":
            return answer(f"draft {self.plans}", score=5)
        found = re.search(r'<subtask id="([^"]+)">', request.messages[1].text)
        assert found
        made = self.called[found[1]] = self.called.get(found[1], 0) + 1
        return call(tool="look_up", name=f"{found[1]}.{made}", finishes=made >= CALLS)


async def look_up(name: str) -> str:
    """Look something up.

    Args:
        name: What to look up.
    """
    return f"{name}: {KILOBYTE}"


@dataclass(frozen=True)
class Mark:
    """What was measured at a step."""

    step: int
    size: int
    """Bytes of the database, what lies in its log written into it."""
    seconds: float
    """Processor time of each of the last steps."""
    prompt: int
    """Characters of the longest prompt since the mark before."""


def added(marks: list[Mark]) -> list[float]:
    """Bytes a step from each mark to the next, the first from the beginning."""
    before = [Mark(0, 0, 0.0, 0), *marks]
    return [(b.size - a.size) / (b.step - a.step) for a, b in zip(before, marks, strict=False)]


def wrong(marks: list[Mark]) -> list[str]:
    """What grows faster than it may, from one mark to the next."""
    sizes = added(marks)
    found = []
    for at in range(1, len(marks)):
        more, longer = sizes[at] / sizes[at - 1], marks[at].seconds / marks[at - 1].seconds
        if more > MOST_BYTES:
            found.append(f"step {marks[at].step}: one adds {more:.1f} times the bytes that one added before")
        if longer > MOST_SECONDS:
            found.append(f"step {marks[at].step}: one takes {longer:.1f} times as long as before")
    return found


async def measure(steps: int, at: set[int], folder: Path) -> tuple[list[Mark], dict[str, Any]]:
    """Run, and look at the steps `at`."""
    model, marks, times = Model(), list[Mark](), list[float]()
    path = folder / "threads.sqlite"
    context = Context(
        effort="paper",  # with every mechanism; under less effort the rounds end earlier
        max_steps=steps,
        max_tokens=MAX_TOKENS,
        max_rounds=20,
        max_parallel=4,
        replanning=False,
        approve_tools="never",
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    async with open_threads(file_address(path), None) as saver, saver.claim("t"):
        graph = build_agent(
            tools=[make_tool(look_up)],
            settings=Settings(data_dir=folder),
            checkpointer=saver,
            transport=model,
        )
        parts = graph.astream(
            {"task": "Find out everything."},
            config,
            context=context,
            stream_mode="updates",
            durability="sync",
        )
        async for part in parts:
            if "tool_executor" not in part:
                continue
            times.append(time.process_time())
            if len(times) in at:
                last = times[-_AROUND:]
                seconds = (last[-1] - last[0]) / (len(last) - 1)
                await saver.rows("PRAGMA wal_checkpoint(TRUNCATE)")
                marks.append(Mark(len(times), await saver.size(), seconds, model.longest))
                model.longest = 0
                times[-1] = time.process_time()
        state = dict((await graph.aget_state(config)).values)
    return marks, state


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1000, help="how many (default 1000)")
    steps = parser.parse_args().steps
    at = sorted({steps // 10, steps // 2, steps})
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        marks, state = asyncio.run(measure(steps, set(at), Path(folder)))
        seconds = time.perf_counter() - started
    subtasks = state["plan"]["subtasks"]
    print(f"{len(state['trajectory'])} steps, {state['status']}, {seconds:.0f} s")
    print(f"plan at the end: {len(subtasks)} subtasks, {len(json.dumps(subtasks)) / 1e3:.0f} KB\n")
    print(
        "| step | database, MB | KB a step since the last mark | a step, ms | longest prompt, K characters |"
    )
    print("| --- | --- | --- | --- | --- |")
    for mark, more in zip(marks, added(marks), strict=True):
        cells = (mark.size / 1e6, more / 1e3, mark.seconds * 1e3, mark.prompt / 1e3)
        print(f"| {mark.step} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    found = wrong(marks)
    if len(state["trajectory"]) != steps:
        found.append(f"{steps} steps were wanted")
    for text in found:
        print(f"wrong: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
