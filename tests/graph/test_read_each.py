"""One question to many files by the whole agent, over HTTP, and killed in the middle."""

from __future__ import annotations

import base64
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from forethought.settings import Settings
from forethought.tools.each.store import NAME
from tests.support.agent import Drive, Script
from tests.support.model_server import Answer, ModelServer, Reply, SeenRequest
from tests.support.processes import Start
from tests.support.replies import plan, sub

Json = dict[str, Any]
_DOCUMENT = re.compile(r'<document number="(\d+)" name="([^"]+)">\n(.*?)\n</document>', re.DOTALL)
ARGUMENTS: Json = {
    "files": "*.txt",
    "question": "What is due?",
    "fields": [{"name": "total", "type": "number", "description": None}],
}
READING = [plan({**sub("read"), "calls": [{"tool": "read_each", "arguments": ARGUMENTS}], "finishes": True})]


def documents(seen: SeenRequest) -> list[tuple[str, str, str]]:
    """Number, name and text of the documents of a request."""
    return _DOCUMENT.findall(seen.text)


def totals(seen: SeenRequest) -> Json:
    """The totals of a request's invoices."""
    rows = []
    for number, _, text in documents(seen):
        found = re.search(r"Total: EUR ([\d.]+)", text)
        value = {"quote": found[0], "value": float(found[1])} if found else {"quote": "", "value": None}
        rows.append({"document": int(number), "total": value})
    return {"rows": rows}


def invoices(count: int) -> list[Json]:
    texts = [f"Invoice {n}\n\nTotal: EUR {n}.50\n" for n in range(count)]
    return [
        {"name": f"{n:03}.txt", "data": base64.b64encode(text.encode()).decode()}
        for n, text in enumerate(texts)
    ]


async def test_a_reading_and_what_the_next_tools_get_of_it(drive: Drive) -> None:
    out = await drive(
        Script(plans=READING, rows=totals),
        task={"task": "sum them", "files": invoices(30)},
        reader_model="openai:reader", effort="auto",
    )  # fmt: skip
    assert out.status == "answered"
    step = out.state["trajectory"][0]
    assert (step["tool"], step["ok"], step["finished"]) == ("read_each", True, True)
    assert "sum 450" in step["observation"]
    models = Counter(seen.body["model"] for seen in out.asked("Rows"))
    assert models == {"reader": 3, "scripted": 1}, "the main model reads the sample"
    assert out.state["usage"]["inspector"]["calls"] == 4
    assert step["origin"].startswith("file:000.txt, file:001.txt")


async def test_a_plan_counts_the_rows_of_a_table_that_it_names_in_advance(drive: Drive) -> None:
    named = {**ARGUMENTS, "table": "invoices"}
    count = {"tool": "python", "arguments": {"code": "sum(row[1] for row in tables['invoices'][1:])"}}
    script = Script(
        plans=[
            plan(
                {**sub("read"), "calls": [{"tool": "read_each", "arguments": named}], "finishes": True},
                {**sub("count", ["read"]), "calls": [count], "finishes": True},
            )
        ],
        rows=totals,
    )
    out = await drive(script, task={"task": "sum them", "files": invoices(30)}, effort="auto")
    assert out.status == "answered"
    assert [step["observation"] for step in out.state["trajectory"]][1] == "450.0"
    assert out.asked("ToolChoice") == [], "no worker is needed"


async def test_a_small_budget_stops_the_reading_before_it_is_exceeded(drive: Drive) -> None:
    out = await drive(
        Script(plans=READING, rows=lambda seen: Reply(totals(seen), prompt_tokens=2_000)),
        task={"task": "sum them", "files": invoices(200)},
        effort="auto", max_tokens=12_000,
    )  # fmt: skip
    observation = out.state["trajectory"][0]["observation"]
    assert "stopped early" in observation
    assert "not read" in observation
    assert 0 < out.state["usage"]["inspector"]["input_tokens"] < 12_000


async def test_the_person_is_asked_before_many_files_are_read(drive: Drive) -> None:
    out = await drive(
        Script(plans=READING, rows=totals),
        task={"task": "sum them", "files": invoices(30)},
        effort="auto", max_read_each_files=20,
    )  # fmt: skip
    (question,) = await out.waiting()
    assert question["choices"] == ["read them", "do not"]
    assert not out.asked("Rows")
    await out.reply("read them")
    assert out.status == "answered"
    assert "30 ok" in out.state["trajectory"][0]["observation"]


RUN = """
import sys
from pathlib import Path
from forethought import Context, Settings, build_agent
from tests.graph.test_read_each import invoices
settings = Settings(base_url=sys.argv[1], api_key="k", data_dir=Path(sys.argv[2]))
agent = build_agent(settings=settings)
context = Context(model="openai:scripted", reader_model="openai:reader", effort="auto")
result = agent.invoke({"task": "sum them", "files": invoices(500)}, context=context)
print(result["trajectory"][0]["observation"])
"""


def test_killed_while_it_reads_500_invoices_it_pays_for_none_twice(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings], python: Start, tmp_path: Path
) -> None:
    script = Script(plans=READING, rows=totals)

    def policy(seen: SeenRequest) -> Answer:
        if seen.reply_name == "Rows":
            time.sleep(0.2)
        return script(seen)

    server = model_server(policy)
    first = python(RUN, server.url, str(tmp_path))
    while sum(seen.reply_name == "Rows" for seen in server.requests) < 20:
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    first.wait()
    with closing(sqlite3.connect(next(tmp_path.rglob(NAME)))) as base:
        (finished,) = base.execute("SELECT count(*) FROM readings").fetchone()
    assert 0 < finished < 500

    killed = len(server.requests)
    second = python(RUN, server.url, str(tmp_path))
    said, _ = second.communicate(timeout=120)
    read = [
        name
        for seen in server.requests[killed:]
        if seen.body["model"] == "reader"
        for _, name, _ in documents(seen)
    ]
    assert len(read) == len(set(read)) == 500 - finished
    assert "500 files: 500 ok, 0 doubtful, 0 unreadable, 0 failed" in said
    assert "sum 125,000" in said
    assert isinstance(second, subprocess.Popen)
