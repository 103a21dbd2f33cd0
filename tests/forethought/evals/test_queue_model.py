"""The model whose replies are files."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from threading import Thread

import httpx

from benchmarks.inattention import Reader
from benchmarks.queue_model import serve
from forethought.evals.prompts.judge_replies import FactGrade
from forethought.settings import Settings
from forethought.text import fence
from tests.support.answers import services


def wait_for(file: Path) -> None:
    """Wait until `file` holds something."""
    while not (file.exists() and file.stat().st_size):
        time.sleep(0.02)


async def test_a_prompt_waits_until_its_reply_is_a_file(tmp_path: Path) -> None:
    server = serve(tmp_path / "queue", 0)
    Thread(target=server.serve_forever, daemon=True).start()
    judge = services(
        Settings(base_url=f"http://127.0.0.1:{server.server_port}/v1", data_dir=tmp_path, request_retries=0)
    )
    asked = {"question": "Which bridge?", "reference": "Old Bridge", "answer": "The Old Bridge"}
    reply = asyncio.create_task(judge.ask("judge", "simpleqa_judge", FactGrade, **asked))
    prompt = tmp_path / "queue" / "00001.prompt.txt"
    await asyncio.to_thread(wait_for, prompt)
    assert not reply.done()
    text = prompt.read_text()
    assert "The Old Bridge" in text
    assert '"grade": {' in text.partition("=== schema of the reply ===")[2]
    written = tmp_path / "queue" / "draft"
    written.write_text(json.dumps({"reasoning": "The same.", "grade": "correct"}))
    written.rename(tmp_path / "queue" / "00001.reply.json")
    assert (await reply).grade == "correct"
    server.shutdown()
    server.server_close()


def test_an_inattentive_reader_is_shown_less_and_the_whole_prompt_is_counted(tmp_path: Path) -> None:
    server = serve(tmp_path, 0, Reader(1))
    Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "00001.reply.json").write_text("{}")
    text = "How many?\n" + fence("\n".join(f"{n} chairs" for n in range(99)), "file", name="a.txt")
    reply = httpx.post(
        f"http://127.0.0.1:{server.server_port}/v1/chat/completions",
        json={"messages": [{"role": "user", "content": text}]},
    )
    seen = (tmp_path / "00001.prompt.txt").read_text()
    assert "How many?" in seen
    assert "chairs" not in seen
    assert reply.json()["usage"]["prompt_tokens"] > len(text) // 4 > len(seen) // 4
    server.shutdown()
    server.server_close()
