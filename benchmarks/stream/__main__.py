"""Runs the stream, and writes results.jsonl, table.md and plot.svg."""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.stream import report
from benchmarks.stream.contenders import CONTENDERS
from benchmarks.stream.families import FAMILIES
from benchmarks.stream.records import Records
from benchmarks.stream.running import Running
from benchmarks.stream.tasks import stream
from forethought.models.live import LiveTransport
from forethought.settings import Settings, read_settings
from forethought.storage import open_threads
from forethought.storage.address import file_address


def options() -> argparse.Namespace:
    """The flags. Exits if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stream", description=__doc__)
    parser.add_argument("--base-url", help="address of an OpenAI-compatible server (default: the provider's)")
    parser.add_argument("--model", required=True, help="provider:name")
    parser.add_argument(
        "--out", type=Path, default=Path("build/stream"), help="folder (default: build/stream)"
    )
    parser.add_argument(
        "--method", default=",".join(CONTENDERS), help="methods, comma-separated (default: all)"
    )
    parser.add_argument(
        "--families", type=int, default=len(FAMILIES), metavar="N", help="families (default: all)"
    )
    parser.add_argument("--tasks", type=int, default=12, metavar="K", help="tasks of a family (default: 12)")
    parser.add_argument(
        "--unrelated", type=int, default=40, metavar="M", help="unrelated tasks (default: 40)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of texts and order (default: 0)")
    parser.add_argument("--parallel", type=int, default=16, help="tasks of a method at once (default: 16)")
    given = parser.parse_args()
    if unknown := set(given.method.split(",")) - set(CONTENDERS):
        parser.error(f"there is no method {min(unknown)!r}; choose from {', '.join(CONTENDERS)}")
    if (
        not 1 <= given.families <= len(FAMILIES)
        or min(given.tasks, given.parallel) < 1
        or given.unrelated < 0
    ):
        parser.error(f"choose 1 to {len(FAMILIES)} families, and at least one task of each")
    return given


async def run(given: argparse.Namespace, settings: Settings, records: Records) -> None:
    """Run all methods side by side. Raises ExceptionGroup with the errors that ended one."""
    tasks = stream(given.seed, [*FAMILIES][: given.families], given.tasks, given.unrelated)
    transport, memory = LiveTransport(settings), given.out / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        saver = await stack.enter_async_context(open_threads(file_address(given.out / "threads.sqlite")))
        for name in given.method.split(","):
            contender = await stack.enter_async_context(CONTENDERS[name](memory))
            running = Running(
                name, contender, tasks, records, settings, given.model, transport, saver,
                asyncio.Semaphore(given.parallel), given.out / "files",
            )  # fmt: skip
            group.create_task(running.carry_out())


def main() -> int:
    """See the package. Returns 1 if the run was stopped by an error."""
    given = options()
    try:
        settings = read_settings(base_url=given.base_url, data_dir=given.out / "data")
        records = Records.of(given.out, {"model": given.model, "seed": given.seed})
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    failed: BaseException | None = None
    try:
        asyncio.run(run(given, settings, records))
    except ExceptionGroup as group:
        failed = group
        while isinstance(failed, ExceptionGroup):
            failed = failed.exceptions[0]
    if records.answers:
        (given.out / "table.md").write_text(report.table(records) + "\n", "utf-8")
        report.draw(records, given.out / "plot.svg")
        print(report.table(records))
    if failed is not None:
        print(f"stopped: {failed}; to continue, repeat the command", file=sys.stderr)
    return int(failed is not None)


if __name__ == "__main__":
    sys.exit(main())
