"""The run of `chat_examples` as traces, written for the tests after real exports."""

from __future__ import annotations

import json
from typing import Any

from tests.forethought.trajectories.chat_examples import (
    ANSWER,
    CALL,
    CHAT,
    FUNCTION,
    LANGCHAIN,
    SEEN,
    TASK,
    THOUGHT,
)

Json = dict[str, Any]


def langsmith(key: str, kind: str, **more: Any) -> Json:
    """A run of LangSmith, in the trace t1."""
    return {"id": key, "trace_id": "t1", "run_type": kind, "start_time": key, **more}


LANGSMITH: Json = langsmith(
    "0",
    "chain",
    inputs={"messages": [["user", TASK]]},
    outputs={"messages": LANGCHAIN},
    feedback_stats={"correctness": {"n": 1, "avg": 0.0}, "length": {"n": 1, "avg": 12.0}},
    reference_example_id="e7",
    reference_outputs={"answer": "GOLD 3"},
    child_runs=[
        langsmith(
            "1",
            "llm",
            inputs={"messages": [LANGCHAIN[:2]]},
            outputs={"generations": [[{"text": THOUGHT, "message": LANGCHAIN[2]}]]},
            extra={"invocation_params": {"tools": [{"type": "function", "function": FUNCTION}]}},
        ),
        langsmith(
            "2",
            "chain",
            child_runs=[
                langsmith("3", "tool", inputs={"parcel": 7}, outputs={"output": LANGCHAIN[3]}, name="find")
            ],
        ),
        langsmith(
            "4",
            "llm",
            inputs={"messages": [LANGCHAIN[:4]]},
            outputs={"generations": [[{"message": LANGCHAIN[4]}]]},
        ),
    ],
)


def _flat(run: Json, parent: str | None = None) -> list[Json]:
    alone = {key: value for key, value in run.items() if key != "child_runs"} | {"parent_run_id": parent}
    return [alone, *(each for child in run.get("child_runs", []) for each in _flat(child, run["id"]))]


LANGSMITH_FLAT = _flat(LANGSMITH)[::-1]


def observation(key: str, kind: str, parent: str | None = None, **more: Any) -> Json:
    """An observation of Langfuse, in the trace t1."""
    return {"id": key, "traceId": "t1", "type": kind, "parentObservationId": parent, "startTime": key, **more}


LANGFUSE: Json = {
    "id": "t1",
    "name": "parcels",
    "input": TASK,
    "output": ANSWER,
    "metadata": {"dataset_item_id": "e7"},
    "scores": [{"name": "correct", "dataType": "BOOLEAN", "value": 0}],
    "observations": [
        observation("4", "GENERATION", "1", input=CHAT[:4], output=CHAT[4]),
        observation("1", "AGENT", input=TASK, output=ANSWER),
        observation(
            "2",
            "GENERATION",
            "1",
            input={"messages": CHAT[:2], "tools": [{"type": "function", "function": FUNCTION}]},
            output=json.dumps(CHAT[2]),
        ),
        observation("3", "TOOL", "1", input={"parcel": 7}, output=SEEN, name="find"),
    ],
}


def otel(key: str, operation: str, **attributes: Any) -> Json:
    """A span of OTLP, in the trace t1."""
    pairs = {"gen_ai.operation.name": operation, **attributes}
    return {
        "traceId": "t1",
        "spanId": key,
        "parentSpanId": "" if key == "0" else "0",
        "name": f"{operation} m",
        "startTimeUnixNano": key,
        "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in pairs.items()],
    }


def otlp(*spans: Json) -> Json:
    """Spans as a collector writes them."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def parts(role: str, *each: Json) -> Json:
    """A message of the GenAI conventions."""
    return {"role": role, "parts": list(each)}


_SAID = parts("assistant", {"type": "text", "content": ANSWER})
_ASKED = parts("user", {"type": "text", "content": TASK})
_CALLED = parts(
    "assistant",
    {"type": "text", "content": THOUGHT},
    {"type": "tool_call", "id": "a", "name": "find", "arguments": {"parcel": 7}},
)
OTEL: list[Json] = [
    otlp(
        otel(
            "2",
            "chat",
            **{
                "gen_ai.input.messages": json.dumps([_ASKED]),
                "gen_ai.output.messages": json.dumps([_CALLED]),
                "gen_ai.system_instructions": json.dumps([{"type": "text", "content": CHAT[0]["content"]}]),
                "gen_ai.tool.definitions": json.dumps([{"type": "function", **FUNCTION}]),
            },
        )
    ),
    otlp(
        otel(
            "3",
            "execute_tool",
            **{
                "gen_ai.tool.name": "find",
                "gen_ai.tool.call.arguments": CALL["arguments"],
                "gen_ai.tool.call.result": SEEN,
            },
        ),
        otel(
            "4",
            "chat",
            **{"gen_ai.output.messages": json.dumps([_SAID])},
        ),
        otel("0", "invoke_agent", **{"gen_ai.evaluation.score.label": "fail"}),
    ),
]
OTEL_SPREAD = otlp(
    otel(
        "2",
        "chat",
        **{
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": CHAT[0]["content"],
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": TASK,
            "gen_ai.completion.0.content": THOUGHT,
            "gen_ai.completion.0.tool_calls.0.name": "find",
            "gen_ai.completion.0.tool_calls.0.arguments": CALL["arguments"],
        },
    ),
    otel(
        "4",
        "chat",
        **{
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": TASK,
            "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.content": THOUGHT,
            "gen_ai.prompt.2.role": "tool",
            "gen_ai.prompt.2.content": SEEN,
            "gen_ai.completion.0.content": ANSWER,
        },
    ),
)
"""Older attributes, one for each field of a message, and tools that are not traced."""


def event(name: str, **attributes: str) -> Json:
    """An event of a span."""
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {"name": f"gen_ai.{name}", "attributes": pairs}


_EVENTS = [
    event("system.message", content=CHAT[0]["content"]),
    event("user.message", content=TASK),
]
OTEL_EVENTS = otlp(
    {
        **otel("2", "chat"),
        "events": [*_EVENTS, event("choice", message=json.dumps(CHAT[2]), finish_reason="tool_calls")],
    },
    {
        **otel("4", "chat"),
        "events": [
            *_EVENTS,
            event("assistant.message", content=THOUGHT, tool_calls=json.dumps(CHAT[2]["tool_calls"])),
            event("tool.message", content=SEEN, id="a"),
            event("choice", **{"gen_ai.event.content": json.dumps({"message": CHAT[4]})}),
        ],
    },
)
"""Messages as events of their spans, as instrumentations before v1.37 of the conventions record them."""


def message(prefix: str, number: int, **parts: str) -> Json:
    """A message as OpenInference spreads it over attributes."""
    return {
        f"llm.{prefix}_messages.{number}.message.{key.replace('__', '.')}": value
        for key, value in parts.items()
    }


_ASKED_OF = {
    **message("input", 0, role="system", content=CHAT[0]["content"]),
    **message("input", 1, role="user", content=TASK),
}
_CALLS_FIND = {
    "tool_calls__0__tool_call__function__name": "find",
    "tool_calls__0__tool_call__function__arguments": CALL["arguments"],
}
OPEN_INFERENCE = otlp(
    otel(
        "2",
        "",
        **{
            "openinference.span.kind": "LLM",
            "input.value": "{}",
            "llm.tools.0.tool.json_schema": json.dumps(FUNCTION),
        },
        **_ASKED_OF,
        **message("output", 0, role="assistant", content=THOUGHT, **_CALLS_FIND),
    ),
    otel(
        "3",
        "",
        **{
            "openinference.span.kind": "TOOL",
            "tool.name": "find",
            "input.value": CALL["arguments"],
            "output.value": SEEN,
        },
    ),
    otel(
        "4",
        "",
        **{"openinference.span.kind": "LLM", **_ASKED_OF},
        **message("output", 0, role="assistant", content=ANSWER),
    ),
)
"""The attributes of OpenInference, which Phoenix collects."""
