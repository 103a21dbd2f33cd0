"""A model server whose replies are files: a person or another program answers each prompt.

    python -m benchmarks.queue_model --dir queue --port 8399

speaks the Chat Completions API at http://127.0.0.1:8399/v1. Each request becomes queue/N.prompt.txt: its
messages, and the JSON schema that the reply must fit. It waits until queue/N.reply.json is there; write that
file under another name and rename it, so that it is never read half-written. Tokens are estimated at four
characters each, with the schema on one line. Give the agent time, no retries and this model:

    FORETHOUGHT_REQUEST_TIMEOUT_S=7200 FORETHOUGHT_REQUEST_RETRIES=0 forethought eval run traps \\
        --base-url http://127.0.0.1:8399/v1 --model openai:reader --seconds 100000 --yes --out runs/traps

Whoever answers sees nothing but these prompts, and a new reader answers for each method, under the same
instruction: "You see only the prompt. Reply with the JSON asked for: one object that fits the schema at the
end, and nothing else. Use no tool, and open no other file. Work as well as you can. Read all of the prompt,
think before you write, calculate exactly, and check your reply against the prompt. You know nothing about the
task but the words of the prompt."

`--inattention 0.2 --seed 1` makes the reader weaker in a way that anyone can repeat: each line or sentence of
material is left out of the written prompt with probability 0.2 (`benchmarks.inattention`). No reader is told
to be careless. Tokens are counted on the prompt as it was sent.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.inattention import Reader


def prompt_of(request: dict[str, Any], reader: Reader | None = None) -> str:
    """The messages, as `reader` sees them, and the schema of the reply."""
    messages = reader.sees(request["messages"]) if reader else request["messages"]
    parts = [f"=== {message['role']} ===\n{message['content']}" for message in messages]
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
    return "\n\n".join([*parts, f"=== schema of the reply ===\n{json.dumps(schema)}"])


def serve(folder: Path, port: int, reader: Reader | None = None) -> ThreadingHTTPServer:
    """Create the server; start it with `serve_forever`. Earlier prompts stay in the folder.

    Args:
        folder: Queue of prompts and replies.
        port: Port to listen on; 0 chooses a free one.
        reader: Leaves out lines of material; None shows everything.
    """
    folder.mkdir(parents=True, exist_ok=True)
    numbers = itertools.count(1 + len(list(folder.glob("*.prompt.txt"))))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sent, name = prompt_of(request), f"{next(numbers):05}"
            (folder / f"{name}.prompt.txt").write_text(prompt_of(request, reader), "utf-8")
            reply = folder / f"{name}.reply.json"
            while not reply.exists():
                time.sleep(0.2)
            text = reply.read_text("utf-8")
            spent = {"prompt_tokens": len(sent) // 4, "completion_tokens": len(text) // 4}
            message = {"role": "assistant", "content": text}
            body = json.dumps(
                {
                    "id": name,
                    "object": "chat.completion",
                    "created": int(time.time()),
                    "model": request.get("model", ""),
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {**spent, "total_tokens": sum(spent.values())},
                }
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the folder shows what waits."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=Path("queue"))
    parser.add_argument("--port", type=int, default=8399)
    parser.add_argument(
        "--inattention",
        type=float,
        default=0.0,
        metavar="P",
        help="probability that a line of material is overlooked",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of what is overlooked, default: 0"
    )
    options = parser.parse_args()
    if not 0 <= options.inattention <= 1:
        parser.error("--inattention: give a probability from 0 to 1")
    try:
        server = serve(options.dir, options.port, Reader(options.inattention, options.seed))
    except OSError as error:
        parser.error(f"port {options.port} cannot be used ({error.strerror}): choose another with --port")
    server.serve_forever()
