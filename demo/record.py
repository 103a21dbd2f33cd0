"""Makes demo/recording.jsonl anew: the demo's task, run live, every model reply recorded.

    python demo/record.py --base-url http://127.0.0.1:8399/v1 --model openai:NAME

Only the first plan is not the model's: it is the hasty one of demo/hasty_plan.json, planted so that there is
something for the reflector to find, and the recording's header says so. Everything after it, and every tool
call, is real. `--unplanted` leaves the first plan to the model, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.agent import build_agent
from forethought.models.live import LiveTransport
from forethought.models.record import RecordingTransport
from forethought.models.types import ModelReply, ModelRequest, Transport
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.files import from_paths

HERE = Path(__file__).resolve().parent


class PlantedFirstPlan:
    """Answers the first request for a plan with a given one, and hands everything else on."""

    def __init__(self, inner: Transport, plan: str) -> None:
        self.inner, self.plan, self.planted = inner, plan, False

    async def send(self, request: ModelRequest) -> ModelReply:
        """The planted plan once, then whatever `inner` replies."""
        if request.reply == "Plan" and not self.planted:
            self.planted = True
            return ModelReply(self.plan, model="planted")
        return await self.inner.send(request)


async def record(settings: Settings, context: Context, path: Path, *, planted: bool, name: str) -> str:
    """Run the demo's task and record it in `path`. Returns the answer and its status."""
    transport: Transport = LiveTransport(settings)
    if planted:
        transport = PlantedFirstPlan(
            transport, json.dumps(json.loads((HERE / "hasty_plan.json").read_text()))
        )
    task = (HERE / "question.txt").read_text("utf-8").strip()
    header = {
        "task": task,
        "model": name,
        "context": context.model_dump(mode="json", exclude={"model"}),
        "planted_first_plan": planted,
        "made_with": "python demo/record.py",
    }
    agent = build_agent(
        settings=settings,
        checkpointer=InMemorySaver(),
        transport=RecordingTransport(transport, path, header),
    )
    files = from_paths([str(file) for file in sorted((HERE / "files").iterdir())], settings)
    state = await agent.ainvoke(
        {"task": task, "files": files}, {"configurable": {"thread_id": "demo"}}, context=context
    )
    return f"{state['status']}: {state['answer']}"


def main() -> None:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    parser.add_argument("--name", help="how the recording calls the model; default: --model")
    parser.add_argument("--out", type=Path, default=HERE / "recording.jsonl")
    parser.add_argument("--unplanted", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(base_url=args.base_url, data_dir=Path(folder), request_timeout_s=1500)
        context = Context(model=args.model)
        done = record(settings, context, args.out, planted=not args.unplanted, name=args.name or args.model)
        print(asyncio.run(done))


if __name__ == "__main__":
    main()
