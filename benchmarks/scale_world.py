"""The world of `benchmarks/scale_out.py`: a tool whose effects are counted in a file, and the model that
calls it, in a process of its own."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path
from typing import Any

from forethought.tools.base import make_tool
from tests.support.exchange import SeenRequest
from tests.support.replies import answer, call, diagnosis, plan, sub

Json = dict[str, Any]
FOLDER = "SCALE_OUT_FOLDER"
"""Environment variable: where the files are."""
EFFECTS, REQUESTS = "effects", "requests"
TEXT = "Pay what is due for {}."
_REST_S = 0.03


def note(folder: str | Path, kind: str, line: str) -> None:
    """Add a line to a file, for good."""
    descriptor = os.open(Path(folder) / kind, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def noted(folder: str | Path, kind: str) -> list[str]:
    """The lines of a file."""
    path = Path(folder) / kind
    return path.read_text().splitlines() if path.exists() else []


def pay(what: str) -> str:
    """Pay something.

    Args:
        what: What to pay.
    """
    time.sleep(random.random() * _REST_S)
    note(os.environ[FOLDER], EFFECTS, what)
    time.sleep(random.random() * _REST_S)
    return f"paid {what}"


TOOLS = [make_tool(pay, effect="write")]


def serve(folder: Path, latency_s: float, far: Any) -> None:
    """The model server: it tells its address through `far`, and notes each request with its task."""
    import socketserver

    from tests.support.model_server import ModelServer

    # The connections of a killed worker are reset, which is no news.
    socketserver.BaseServer.handle_error = lambda *given: None  # type: ignore[method-assign]

    def policy(seen: SeenRequest) -> Json:
        found = re.search(r"Pay what is due for (t\d+)\.", seen.text)
        assert found
        note(folder, REQUESTS, f"{found[1]} {seen.reply_name} {len(seen.messages)}")
        time.sleep(latency_s * random.uniform(0.8, 1.2))
        return {
            "Plan": plan(sub("pay")),
            "PlanDiagnosis": diagnosis(),
            "ToolChoice": call(tool="pay", what=found[1]),
            "AnswerDraft": answer(f"{found[1]} is paid"),
        }[seen.reply_name]

    server = ModelServer(policy)
    far.send(server.url)
    server.closing.wait()
