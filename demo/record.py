"""Makes demo/recording.jsonl anew: the demo's task, run live, every model reply recorded.

    python demo/record.py --base-url http://127.0.0.1:8399/v1 --model openai:NAME

Only the first plan is not the model's: it is the hasty one of demo/hasty_plan.json, planted so that there is
something for the reflector to find, and the recording's header says so. Everything after it, and every tool
call, is real. `--unplanted` leaves the first plan to the model, too.
`--folder` records the task on a folder of 300 files in demo/folder.jsonl, without a planted plan.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from langgraph.checkpoint.memory import InMemorySaver

from forethought.app.demo import Demo, choir_demo, folder_demo
from forethought.graph.agent import build_agent
from forethought.models.live import LiveTransport
from forethought.models.record import RecordingTransport
from forethought.models.types import ModelReply, ModelRequest, Transport
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.folders.intake import take_paths

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


async def record(
    settings: Settings, context: Context, path: Path, demo: Demo, *, planted: bool, name: str
) -> str:
    """Run a demo's task and record it in `path`. Returns the answer and its status."""
    transport: Transport = LiveTransport(settings)
    if planted:
        transport = PlantedFirstPlan(
            transport, json.dumps(json.loads((HERE / "hasty_plan.json").read_text()))
        )
    header = {
        "task": demo.task,
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
    given = take_paths(demo.files, settings)
    state = await agent.ainvoke(
        {"task": demo.task, **given.channels}, {"configurable": {"thread_id": "demo"}}, context=context
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
    parser.add_argument("--folder", action="store_true", help="record the task on a folder")
    parser.add_argument("--out", type=Path, help="default: the recording of the demo")
    parser.add_argument("--unplanted", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(base_url=args.base_url, data_dir=Path(folder), request_timeout_s=1500)
        context = Context(model=args.model)
        demo = folder_demo(Path(folder)) if args.folder else choir_demo()
        planted = not (args.unplanted or args.folder)
        out, name = args.out or demo.recording, args.name or args.model
        done = record(settings, context, out, demo, planted=planted, name=name)
        print(asyncio.run(done))


if __name__ == "__main__":
    main()
