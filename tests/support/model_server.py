"""A chat-completions server on this machine whose replies a test scripts.

The code under test talks to it with its real client over real HTTP. A policy, any function of the request,
gives each reply or fault; `script` makes one from a list. A schema outside the strict subset is refused with
a 400, as OpenAI does.

    def policy(seen: SeenRequest) -> Answer:
        return {"subtasks": [...], "score": 9} if seen.reply_name == "Plan" else Fault("503")
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.exchange import Answer, Fault, Json, Policy, Reply, SeenRequest, script
from tests.support.strict_subset import openai_faults

__all__ = ["Answer", "Fault", "ModelServer", "Policy", "Reply", "SeenRequest", "script"]


class ModelServer:
    """The server. `requests` holds everything that it was sent; `close` ends it."""

    def __init__(self, policy: Policy, *, refuses: Sequence[str] = (), streams: bool = True) -> None:
        self.policy, self.refuses, self.streams = policy, tuple(refuses), streams
        self.models: Sequence[str] = ()
        """What it lists."""
        self.requests: list[SeenRequest] = []
        self.lock = threading.Lock()
        self.closing, self._accept = threading.Event(), threading.Event()
        self._handler = type("Handler", (_Handler,), {"owner": self})
        self._reopening: threading.Thread | None = None
        self._serve(0)
        self.port = int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def names(self) -> list[str]:
        """The reply types asked for, in order."""
        return [seen.reply_name for seen in self.requests]

    def close(self) -> None:
        """Stop, and let hanging requests go."""
        self.closing.set()
        self.accept_connections()
        self._stop()

    def refuse_connections(self, seconds: float | None = None) -> None:
        """Take no connection for a while, or until `accept_connections`. Those that are open stay."""
        self._stop()
        self._accept.clear()

        def reopen() -> None:
            self._accept.wait(seconds)
            self._serve(self.port)

        self._reopening = threading.Thread(target=reopen, daemon=True)
        self._reopening.start()

    def accept_connections(self) -> None:
        """Refuse none any longer."""
        self._accept.set()
        if self._reopening:
            self._reopening.join()

    def _serve(self, port: int) -> None:
        self._http = _Server(("127.0.0.1", port), self._handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.002}, daemon=True
        )
        self._thread.start()

    def _stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, body: Json, headers: dict[str, str]) -> SeenRequest:
        """Record a request."""
        with self.lock:
            seen = SeenRequest(len(self.requests) + 1, body, headers)
            self.requests.append(seen)
        return seen

    def refusal(self, seen: SeenRequest) -> str | None:
        """Why a hosted model would answer 400: a method in `refuses`, or a schema outside the strict
        subset.
        """
        if seen.method in self.refuses:
            field_name = "response_format" if seen.method in ("schema", "object") else "tools"
            return f"'{field_name}' is not supported with this model"
        shape = seen.body.get("response_format", {}).get("json_schema", {})
        strict = (
            [("response_format", shape.get("name"), shape.get("schema", {}))] if shape.get("strict") else []
        )
        offered = [tool["function"] for tool in seen.body.get("tools", [])]
        strict += [("function", f["name"], f["parameters"]) for f in offered if f.get("strict")]
        for where, name, schema in strict:
            if faults := openai_faults(schema):
                return f"Invalid schema for {where} '{name}': {faults[0]}"
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many requests begin at the same moment, and none may be turned away

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed, or would not wait, is no error of the server's."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each reply waits 40 ms for the acknowledgement of its headers
    owner: ModelServer

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "us"} for name in self.owner.models]
        content = json.dumps({"object": "list", "data": data}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen = self.owner.take(body, {name.lower(): value for name, value in self.headers.items()})
        refused = self.owner.refusal(seen)
        if refused:
            return self._fail(Fault("400", message=refused))
        try:
            answer = self.owner.policy(seen)
        except Exception as error:  # a bug in a test's policy must end the test, not be retried
            return self._fail(Fault("400", message=f"policy failed: {type(error).__name__}: {error}"))
        if isinstance(answer, Fault):
            return self._fault(answer, seen)
        return self._reply(answer if isinstance(answer, Reply) else Reply(answer), seen)

    def _fault(self, fault: Fault, seen: SeenRequest) -> None:
        whole = json.dumps(fault.value)
        if fault.kind.isdigit():
            self._fail(fault)
        elif fault.kind == "hang":
            self.owner.closing.wait()
            self._drop()
        elif fault.kind == "drop":
            self._drop()
        elif fault.kind == "dropmid":
            self._send(200, b'{"id": "cut', length=1000)
            self._drop()
        elif fault.kind == "badbody":
            self._send(200, b"<html><body>bad gateway</body></html>")
        elif fault.kind == "trickle":
            self._trickle()
        elif fault.kind == "stream":
            chunk = {"choices": [{"index": 0, "delta": {"content": whole[: len(whole) // 2]}}]}
            self._send(200, f"data: {json.dumps(chunk)}\n\n".encode(), kind="text/event-stream")
        elif fault.kind == "filter":
            self._complete({"role": "assistant", "content": ""}, "content_filter", Reply(), seen)
        elif fault.kind == "refusal":
            self._complete(
                {"role": "assistant", "content": None, "refusal": fault.message}, "stop", Reply(), seen
            )
        elif fault.kind == "empty":
            self._complete({"role": "assistant", "content": ""}, "stop", Reply(), seen)
        elif fault.kind == "length":
            self._reply(Reply(whole[: len(whole) // 2], finish_reason="length"), seen)
        elif fault.kind == "badjson":
            self._reply(Reply(whole[: len(whole) * 2 // 3] + '"{[oops'), seen)
        else:
            raise ValueError(f"unknown fault {fault.kind}")

    def _reply(self, reply: Reply, seen: SeenRequest) -> None:
        text = reply.value if isinstance(reply.value, str) else json.dumps(reply.value)
        calls = list(reply.calls)
        if seen.method == "function" and not calls:
            calls = [(seen.reply_name, text)]
        message: Json = {"role": "assistant", "content": None if calls else text}
        if calls:
            message["tool_calls"] = [
                _tool_call(seen.n, at, name, given) for at, (name, given) in enumerate(calls)
            ]
        self._complete(message, reply.finish_reason or ("tool_calls" if calls else "stop"), reply, seen)

    def _complete(self, message: Json, finish_reason: str, reply: Reply, seen: SeenRequest) -> None:
        usage = {
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "total_tokens": reply.prompt_tokens + reply.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        }
        choice = {"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}
        body = {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
        }
        told = {"usage": usage} if reply.told else {}
        if self.owner.streams and seen.body.get("stream"):
            self._stream(
                {**body, "object": "chat.completion.chunk"}, message, finish_reason, told, reply.pause_s
            )
        else:
            self.owner.closing.wait(reply.pause_s * len(str(message)) / 4)
            self._send(200, json.dumps({**body, **told}).encode())

    def _stream(self, body: Json, message: Json, finish_reason: str, told: Json, pause_s: float) -> None:
        """The reply in chunks of a few characters."""
        pieces: list[Json] = [{"role": "assistant"}]
        for field in ("content", "refusal"):
            pieces += [{field: part} for part in _parts(message.get(field) or "")]
        for at, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            pieces.append({"tool_calls": [{**call, "index": at, "function": {**function, "arguments": ""}}]})
            for part in _parts(function["arguments"]):
                pieces.append({"tool_calls": [{"index": at, "function": {"arguments": part}}]})
        chunks = [{**body, "choices": [{"index": 0, "delta": piece}]} for piece in pieces]
        chunks.append({**body, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
        chunks.append({**body, "choices": [], **told})
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        lines.append("data: [DONE]\n\n")
        if not pause_s:
            return self._send(200, "".join(lines).encode(), kind="text/event-stream")
        self._send(200, b"", length=sum(map(len, lines)), kind="text/event-stream")
        try:
            for line in lines:
                self.owner.closing.wait(pause_s)
                self.wfile.write(line.encode())
                self.wfile.flush()
        except OSError:
            self.close_connection = True  # the client has given up

    def _fail(self, fault: Fault) -> None:
        error = {"message": fault.message, "type": fault.type, "code": fault.code, "param": None}
        body = {"error": error} if fault.body is None else fault.body
        extra = {} if fault.retry_after is None else {"retry-after": fault.retry_after}
        self._send(int(fault.kind), json.dumps(body).encode(), extra)

    def _send(
        self,
        status: int,
        body: bytes,
        extra: dict[str, str] | None = None,
        length: int | None = None,
        kind: str = "application/json",
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body) if length is None else length))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _trickle(self) -> None:
        """A byte at a time, so that no single read ever waits for long."""
        self._send(200, b'{"id": "slow', length=1_000_000)
        try:
            while not self.owner.closing.wait(0.02):
                self.wfile.write(b".")
                self.wfile.flush()
        except OSError:
            self.close_connection = True  # the client has given up

    def _drop(self) -> None:
        """End the connection with a reset."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


def _parts(text: str, length: int = 4) -> list[str]:
    return [text[at : at + length] for at in range(0, len(text), length)]


def _tool_call(n: int, at: int, name: str, arguments: Json | str) -> Json:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"call_{n}_{at}", "type": "function", "function": {"name": name, "arguments": text}}
