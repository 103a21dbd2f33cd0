"""Reads the public ReAct logs of Reflexion, debugs every failed run with a scripted model, and searches each
prompt for what no model may see.

    git clone https://github.com/noahshinn/reflexion
    git -C reflexion fetch origin pull/53/head          # Claude's log; without it those of GPT-3 are read
    git -C reflexion checkout FETCH_HEAD
    python benchmarks/reflexion_logs.py reflexion/hotpotqa_runs/root/ReAct

Prints the counts, and exits with 1 where a log is not read whole, a halted run is not labelled as such, or a
prompt holds a verdict, or a gold answer that the run itself does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from forethought.graph.debugger import build_debugger
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings
from forethought.state.debugger import DebuggerContext
from forethought.trajectories.read import read_trajectories
from forethought.trajectories.types import MODULES, Loaded, Trajectory

VERDICT = re.compile(r"Answer is (?:IN)?CORRECT|Correct answer:")
NO_ERROR = {"error_type": "no_error", "evidence": "", "reasoning": "Sound."}


class Scripted:
    """Labels nothing as an error, blames the last action, and keeps every prompt."""

    def __init__(self, run: Trajectory) -> None:
        self.last = run.steps[-1]
        self.prompts: list[str] = []

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply that the schema asks for."""
        self.prompts.append("\n".join(message.text for message in request.messages))
        reply: dict[str, Any] = dict.fromkeys(MODULES, NO_ERROR)
        if request.reply == "CriticalError":
            step, texts = self.last, dict.fromkeys(("root_cause", "correction_guidance"), "-")
            reply = {"critical_step": step.number, "critical_module": "action", "error_type": "format_error"}
            reply |= {"evidence": step.action or step.planning or step.observation, **texts}
        return ModelReply(json.dumps(reply), model="scripted")


async def prompts_of(loaded: Loaded, settings: Settings) -> tuple[list[str], dict[str, Any]]:
    """All prompts of one debugging that is given the gold answer, and its state at the end."""
    scripted = Scripted(loaded.trajectory)
    graph = build_debugger(settings=settings, transport=scripted)
    state = await graph.ainvoke(
        {"trajectory": loaded.model_dump(mode="json")},
        context=DebuggerContext(judge="gold", method="agentdebug"),
    )
    return scripted.prompts, dict(state)


def leaked(loaded: Loaded, prompts: list[str]) -> bool:
    """Whether a prompt holds a verdict, or a gold answer that stands nowhere in the run itself."""
    own = loaded.trajectory.model_dump_json().casefold()
    telling = [answer for answer in loaded.reference.gold if len(answer) > 3 and answer.casefold() not in own]
    # The fixed texts hold common words too: only what comes after them is about this run.
    shown = "\n".join(prompt.partition("# The agent's task")[2] for prompt in prompts).casefold()
    return bool(VERDICT.search("\n".join(prompts))) or any(answer.casefold() in shown for answer in telling)


def read(folder: Path) -> list[Loaded]:
    """The distinct runs of all trials."""
    files = sorted(folder.rglob("100_questions*.txt"))
    found = {item.trajectory.id: item for file in files for item in read_trajectories(file)}
    print(f"{len(found)} distinct runs in {len(files)} files")
    return list(found.values())


async def measure(runs: list[Loaded]) -> int:
    """Debugs all runs and prints what came of it; 1 where something is amiss."""
    kinds = Counter("halted" if run.trajectory.halted else run.reference.outcome for run in runs)
    print(f"as recorded: {dict(kinds)}")
    settings = Settings(base_url=None)
    asked = leaks = halted = 0
    statuses: Counter[str] = Counter()
    for run in runs:
        prompts, state = await prompts_of(run, settings)
        asked += len(prompts)
        leaks += leaked(run, prompts)
        statuses[state["status"]] += 1
        if run.trajectory.halted:
            last = state["labels"][str(run.trajectory.steps[-1].number)]["system"]
            halted += (last["error_type"], last["by"]) == ("step_limit", "rule")
    print(f"debugged: {dict(statuses)}; {asked} prompts; runs with a leak: {leaks}")
    print(f"halted runs labelled step_limit by rule: {halted} of {kinds['halted']}")
    return 0 if runs and not leaks and halted == kinds["halted"] else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="the folder ReAct of the logs")
    raise SystemExit(asyncio.run(measure(read(parser.parse_args().folder))))


if __name__ == "__main__":
    main()
