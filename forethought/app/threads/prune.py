"""threads --prune: delete old threads with their debuggings and jobs, and files unused for as long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rich.text import Text

from forethought.app.errors import ANSWERED, WAITS, CliError, echo
from forethought.app.options import settings_from
from forethought.app.runner import open_runner
from forethought.app.text import clean, one_line
from forethought.app.threads.thread import DEBUGGING, is_debugging
from forethought.app.threads.threads import DAMAGED, list_threads
from forethought.settings import Settings
from forethought.storage import address_of, open_threads
from forethought.storage.errors import NoThreads

if TYPE_CHECKING:
    from forethought.app.commands import ThreadsOptions

Json = dict[str, Any]
FINISHED = ("answered", "best_effort", "budget_exhausted")
UNFINISHED = ("failed", "stopped", "interrupted")
_DEBUGGED = ("fixed", "not_fixed", "found", "not_found", "successful")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_ALL = 1_000_000_000


@dataclass(frozen=True)
class Rule:
    """Which threads may go."""

    older_than: timedelta
    """Since they were last written to."""
    statuses: frozenset[str]
    keep: int = 0
    """So many of the newest threads stay, whatever they are."""
    files: bool = True
    """Stored files that nobody has used for as long go too."""

    def allows(self, entry: Json) -> bool:
        """Whether a listed thread may go. The age of a damaged one is unknown."""
        statuses = self.statuses.union(_DEBUGGED if is_debugging(entry["thread_id"]) else ())
        age = datetime.now(UTC) - datetime.fromisoformat(entry["time"]) if entry["time"] else None
        return entry["status"] in statuses and (age is None or age >= self.older_than)


def rule_of(older_than: str | None, statuses: str | None, keep: int, keep_files: bool) -> Rule:
    """The flags as a rule. Raises CliError."""
    text = (older_than or "30d").strip().lower()
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if not match:
        raise CliError(f"--older-than {one_line(text, 40)}: write a number and m, h, d or w, such as 30d")
    known = (*FINISHED, *UNFINISHED, DAMAGED)
    names = [name.strip() for name in statuses.split(",")] if statuses is not None else FINISHED
    for name in names:
        if name not in known:
            raise CliError(f"--status {one_line(name, 40)!r}: choose of {', '.join(known)}")
    age = timedelta(**{_UNITS[match[2]]: int(match[1])})
    return Rule(age, frozenset(names), keep, not keep_files)


def prune(options: ThreadsOptions) -> int:
    """Delete the threads that the flags allow, once a person has agreed. Returns the exit code."""
    rule = rule_of(options.older_than, options.status, options.keep, options.keep_files)
    settings = settings_from(options)
    address = address_of(settings)
    with open_runner(options.as_json) as runner:
        chosen = runner.run(_choose(settings, rule)) if address.exists else []
        debuggings = [name for name in chosen if is_debugging(name)]
        result: Json = {
            "status": "pruned",
            "threads": [name for name in chosen if name not in debuggings],
            "debuggings": debuggings,
        }
        where = clean(address.shown)
        what = f"{len(result['threads'])} threads and {len(debuggings)} debuggings in {where}"
        if not chosen:
            runner.console.print(Text(f"nothing to prune in {where}"))
        elif options.yes or runner.confirm(f"delete {what} for good?", default=False):
            result |= runner.run(_delete(settings, rule, chosen))
            gone = len(chosen) - len(result["skipped"])
            size = f"{result['bytes_before']:,} bytes before, {result['bytes_after']:,} after"
            line = f"deleted {gone} of {len(chosen)}, with {len(result['files'])} stored files; {size}"
            runner.console.print(Text(line))
            for problem in result["problems"]:
                echo(problem)
        else:
            result["status"] = "waits"
            runner.console.print(Text(f"would go for good: {what}: {one_line(', '.join(chosen), 600)}"))
            echo("nothing was deleted; go on with the same command and --yes")
        runner.print_json(result)
        return WAITS if result["status"] == "waits" else ANSWERED


async def _choose(settings: Settings, rule: Rule) -> list[str]:
    """Ids of the threads that go, each followed by its debuggings."""
    try:
        async with open_threads(address_of(settings), settings.key, read_only=True) as saver:
            entries = {entry["thread_id"]: entry for entry in await list_threads(saver, _ALL, True)}
    except NoThreads:
        return []
    newest = [name for name in entries if not is_debugging(name)][: rule.keep]
    chosen = [
        name
        for name, entry in entries.items()
        if name not in newest and _debugged(name) not in entries and rule.allows(entry)
    ]
    return [each for name in chosen for each in (name, *(d for d in entries if _debugged(d) == name))]


def _debugged(thread_id: str) -> str:
    """The thread that a debugging is of, or the trajectory; '' for a thread of the agent's."""
    return thread_id.removeprefix(DEBUGGING).rpartition(":")[0] if is_debugging(thread_id) else ""


async def _delete(settings: Settings, rule: Rule, chosen: list[str]) -> Json:
    """Delete, and shrink the database: {bytes_before, bytes_after, files, jobs, skipped, problems}."""
    import sqlite3

    from forethought.batch.retention import delete_jobs
    from forethought.storage.retention import delete_files, delete_threads

    async with open_threads(address_of(settings), settings.key) as saver:
        before = await saver.size()
        skipped = await delete_threads(saver, chosen)
        files = delete_files(settings.blobs_dir, rule.older_than) if rule.files else []
        jobs = await delete_jobs(saver, [name for name in chosen if name not in skipped], rule.older_than)
        problems = list(skipped.values())
        try:
            await saver.shrink()
        except sqlite3.OperationalError as error:
            problems.append(f"the file was not made smaller ({error}): its space is used again")
        after = await saver.size()
    sizes = {"bytes_before": before, "bytes_after": after}
    return {**sizes, "files": files, "jobs": jobs, "skipped": list(skipped), "problems": problems}
