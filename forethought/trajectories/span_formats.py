"""The spans of LangSmith, Langfuse and OpenTelemetry (GenAI conventions, OTLP JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.spans import MODEL, TOOL, Span, traces
from forethought.trajectories.types import Loaded
from forethought.trajectories.values import Json, at, first, items, mapping, text

# LangSmith: a tree of runs, or a flat list whose runs name their parents


def _langsmith(value: Any, name: str) -> list[Loaded]:
    def walk(run: Json, place: str, parent: str) -> Iterable[Span]:
        span = _run({"id": place, **run}, parent)
        yield span
        for number, child in enumerate(map(mapping, items(run.get("child_runs")))):
            yield from walk(child, f"{place}.{number}", span.id)

    runs = enumerate(map(mapping, _runs(value)))
    return traces((span for at, run in runs for span in walk(run, f"#{at}", "")), "langsmith", name)


def _run(run: Json, parent: str) -> Span:
    kinds = {"llm": MODEL, "chat_model": MODEL, "tool": TOOL, "retriever": TOOL}
    stats = {key: _score(mapping(each)) for key, each in _stats(run).items()}
    return Span(
        id=text(run.get("id")),
        parent=text(run.get("parent_run_id")) or parent,
        trace=text(run.get("trace_id")),
        kind=kinds.get(text(run.get("run_type")), ""),
        name=text(run.get("name")),
        begun=(text(run.get("dotted_order")), text(run.get("start_time"))),
        inputs=run.get("inputs"),
        outputs=run.get("outputs"),
        tools=at(run, "extra.invocation_params.tools", "inputs.tools"),
        error=text(run.get("error")),
        scores={key: value for key, value in stats.items() if value is not None},
        gold=run.get("reference_outputs"),
        task_id=text(run.get("reference_example_id")),
    )


def _score(feedback: Json) -> Any:
    """A figure, or the one category that was chosen."""
    chosen = list(mapping(feedback.get("values")))
    figure = first(feedback, "avg", "score", "value")
    return chosen[0] if figure is None and len(chosen) == 1 else figure


def _stats(run: Json) -> Json:
    listed = {text(each.get("key")): each for each in map(mapping, items(run.get("feedback")))}
    return {**mapping(run.get("feedback_stats")), **listed}


def _runs(value: Any) -> list[Any]:
    return items(value) or items(mapping(value).get("runs")) or ([value] if isinstance(value, dict) else [])


# Langfuse: traces with their observations, or observations alone


def _langfuse(value: Any, name: str) -> list[Loaded]:
    spans: list[Span] = []
    for each in map(mapping, _traced(value)):
        within = items(each.get("observations"))
        trace = {**each, **mapping(each.get("trace"))}
        if within:
            spans.append(_observed({**trace, "type": "TRACE", "trace_id": trace.get("id")}))
        spans += [_observed({"traceId": trace.get("id"), **mapping(inner)}) for inner in within or [each]]
    return traces(spans, "langfuse", name)


def _observed(each: Json) -> Span:
    kind = text(each.get("type"))
    trace = text(first(each, "trace_id", "traceId"))
    parent = text(first(each, "parentObservationId", "parent_observation_id"))
    rows = map(mapping, items(each.get("scores")))
    return Span(
        id=text(each.get("id")),
        parent=parent or ("" if kind == "TRACE" else trace),
        trace=trace,
        kind={"GENERATION": MODEL, "TOOL": TOOL, "RETRIEVER": TOOL}.get(kind, ""),
        name=text(each.get("name")),
        begun=("" if kind == "TRACE" else text(first(each, "startTime", "start_time")),),
        inputs=_parsed(each.get("input")),
        outputs=_parsed(each.get("output")),
        tools=at(each, "input.tools", "tool_definitions", "toolDefinitions", "modelParameters.tools"),
        error=text(first(each, "statusMessage", "status_message")) if each.get("level") == "ERROR" else "",
        scores={text(row.get("name")): first(row, "value", "stringValue", "string_value") for row in rows},
        gold=at(each, "expectedOutput", "metadata.expected_output"),
        task_id=text(at(each, "datasetItemId", "metadata.dataset_item_id", "metadata.task_id")),
    )


def _traced(value: Any) -> list[Any]:
    return items(value) or items(mapping(value).get("data")) or ([value] if isinstance(value, dict) else [])


def _is_langfuse(value: Any) -> bool:
    rows = [mapping(each) for each in _traced(value)]
    parts = [mapping(inner) for row in rows for inner in items(row.get("observations")) or [row]]
    traced = all("observations" in row or first(row, "traceId", "trace_id") is not None for row in rows)
    return bool(parts) and traced and all(text(part.get("type")).isupper() for part in parts)


# OpenTelemetry: OTLP JSON with the attributes of the GenAI conventions


def _otlp(value: Any, name: str) -> list[Loaded]:
    spans = [mapping(span) for batch in _batches(value) for span in _within(batch)]
    return traces(map(_span, spans), "otel", name)


def _span(span: Json) -> Span:
    given = {**_attributes(span), **{key: found for event in _events(span) for key, found in event.items()}}
    does = text(first(given, "gen_ai.operation.name", "traceloop.span.kind", "llm.request.type"))
    kinds = {"chat": MODEL, "text_completion": MODEL, "generate_content": MODEL, "completion": MODEL}
    score = first(given, "gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label")
    is_tool = does in ("execute_tool", "tool")
    status = mapping(span.get("status"))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return Span(
        id=text(first(span, "spanId", "span_id")),
        parent=text(first(span, "parentSpanId", "parent_span_id")),
        trace=text(first(span, "traceId", "trace_id")),
        kind=TOOL if is_tool else kinds.get(does, ""),
        name=text(first({**given, "span": span.get("name")}, *_TOOL_NAMES)),
        begun=(text(first(span, "startTimeUnixNano", "start_time_unix_nano")).zfill(20),),
        inputs=_parsed(first(given, *_TOOL_INPUTS) if is_tool else first(given, *_INPUTS))
        or _unfolded(given, "gen_ai.prompt.")
        or _told(span, r"gen_ai\.(system|user|assistant|tool)\.message"),
        outputs=_parsed(first(given, *_TOOL_OUTPUTS) if is_tool else first(given, *_OUTPUTS))
        or _unfolded(given, "gen_ai.completion.")
        or _told(span, r"gen_ai\.(choice)"),
        instructions=_parsed(given.get("gen_ai.system_instructions")),
        tools=_parsed(given.get("gen_ai.tool.definitions")),
        error=text(first(status, "message")) or text(given.get("error.type")) if failed else "",
        scores={text(given.get("gen_ai.evaluation.name")) or "score": score} if score is not None else {},
        task_id=text(given.get("task_id")),
    )


_TOOL_NAMES = ("gen_ai.tool.name", "traceloop.entity.name", "span")
_INPUTS = ("gen_ai.input.messages", "input.value", "traceloop.entity.input")
_OUTPUTS = ("gen_ai.output.messages", "output.value", "final_result", "traceloop.entity.output")
_TOOL_INPUTS = ("gen_ai.tool.call.arguments", "tool_arguments", "traceloop.entity.input")
_TOOL_OUTPUTS = ("gen_ai.tool.call.result", "tool_response", "traceloop.entity.output")


def _batches(value: Any) -> list[Any]:
    return items(value) or [value]


def _within(batch: Any) -> list[Any]:
    return [
        span
        for resource in items(first(mapping(batch), "resourceSpans", "resource_spans"))
        for scope in items(first(mapping(resource), "scopeSpans", "scope_spans"))
        for span in items(mapping(scope).get("spans"))
    ]


def _events(span: Json) -> list[Json]:
    return [_attributes(mapping(event)) for event in items(span.get("events"))]


def _attributes(owner: Json) -> Json:
    pairs = map(mapping, items(owner.get("attributes")))
    return {text(pair.get("key")): _value(mapping(pair.get("value"))) for pair in pairs}


def _value(wrapped: Json) -> Any:
    """An attribute's value without OTLP's wrapping of its type."""
    for kind, inner in wrapped.items():
        if kind == "arrayValue":
            return [_value(mapping(each)) for each in items(mapping(inner).get("values"))]
        if kind == "kvlistValue":
            pairs = map(mapping, items(mapping(inner).get("values")))
            return {text(pair.get("key")): _value(mapping(pair.get("value"))) for pair in pairs}
        return inner
    return None


def _unfolded(given: Json, prefix: str) -> list[Json]:
    """Messages that older instrumentations spread over attributes: gen_ai.prompt.0.role, ..."""
    messages: dict[int, Json] = {}
    for key, value in given.items():
        found = re.fullmatch(re.escape(prefix) + r"(\d{1,4})\.(?:(\w+)|tool_calls\.(\d{1,3})\.(\w+))", key)
        if found is None:
            continue
        message = messages.setdefault(int(found[1]), {"role": "assistant"})
        if found[2]:
            message[found[2]] = value
        else:
            calls = message.setdefault("tool_calls", [])
            calls += [{} for _ in range(int(found[3]) + 1 - len(calls))]
            calls[int(found[3])][found[4]] = value
    return [messages[number] for number in sorted(messages)]


def _told(span: Json, pattern: str) -> list[Json]:
    """Messages that instrumentations before v1.37 of the conventions record as events of a span."""
    messages = []
    for event in map(mapping, items(span.get("events"))):
        if found := re.fullmatch(pattern, text(event.get("name"))):
            told = {key: _parsed(value) for key, value in _attributes(event).items()}
            told |= mapping(told.get("gen_ai.event.content"))
            role = "assistant" if found[1] == "choice" else found[1]
            messages.append({"role": role, **mapping(told.get("message")), **told})
    return messages


def _parsed(value: Any) -> Any:
    """A JSON text as what it holds; anything else as it is."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_otlp(value: Any) -> bool:
    return all(
        first(mapping(batch), "resourceSpans", "resource_spans") is not None for batch in _batches(value)
    )


def _is_langsmith(value: Any) -> bool:
    runs = _runs(value)
    return bool(runs) and all("run_type" in mapping(run) for run in runs)


FORMATS = (
    Format("langsmith", "runs with run_type", _is_langsmith, _langsmith),
    Format("langfuse", "observations with type; traceId", _is_langfuse, _langfuse),
    Format("otel", "resourceSpans with attributes of gen_ai", _is_otlp, _otlp),
)
