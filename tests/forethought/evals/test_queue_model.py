"""The model whose replies are files."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from threading import Thread

from benchmarks.queue_model import serve
from forethought.evals.prompts.judge_replies import FactGrade
from forethought.settings import Settings
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
