"""The spans of LangSmith, Langfuse and OpenTelemetry (GenAI conventions or OpenInference, OTLP JSON).

Each system's spans are first brought into one flat list of records; one table of paths then reads them all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.spans import MODEL, TOOL, Span, traces
from forethought.trajectories.types import Loaded
from forethought.trajectories.values import Json, at, first, items, mapping, parsed, rows, text

_KINDS = {
    **dict.fromkeys(("llm", "chat_model", "generation", "chat", "text_completion"), MODEL),
    **dict.fromkeys(("generate_content", "completion"), MODEL),
    **dict.fromkeys(("tool", "retriever", "execute_tool"), TOOL),
}
_PATHS = {
    "id": "id|spanId|span_id",
    "parent": "parent_run_id|parentObservationId|parent_observation_id|parentSpanId|parent_span_id",
    "trace": "trace_id|traceId",
    "kind": "run_type|type|@openinference.span.kind|@gen_ai.operation.name|@traceloop.span.kind"
    "|@llm.request.type",
    "name": "@gen_ai.tool.name|@tool.name|@traceloop.entity.name|name",
    "begun": "dotted_order|startTime|start_time|startTimeUnixNano|start_time_unix_nano",
    "inputs": "inputs|input|@gen_ai.tool.call.arguments|@tool_arguments|@gen_ai.input.messages"
    "|@llm.input_messages|@input.value|@traceloop.entity.input|@gen_ai.prompt|asked",
    "outputs": "outputs|output|@gen_ai.tool.call.result|@tool_response|@gen_ai.output.messages"
    "|@llm.output_messages|@output.value|@final_result|@traceloop.entity.output|said|@gen_ai.completion",
    "instructions": "@gen_ai.system_instructions|input.instructions|input.system"
    "|input.config.system_instruction|input.systemInstruction|output.instructions",
    "tools": "extra.invocation_params.tools|inputs.tools|input.tools|input.config.tools|tool_definitions"
    "|toolDefinitions|modelParameters.tools|@gen_ai.tool.definitions|@llm.tools|output.tools",
    "trouble": "statusMessage|status_message|status.message|@error.type",
    "gold": "reference_outputs|expectedOutput|metadata.expected_output",
    "task_id": "reference_example_id|datasetItemId|metadata.dataset_item_id|metadata.task_id|@task_id",
}
"""Paths of a span's parts in a record; @ means its attributes."""


def _span(record: Json) -> Span:
    paths = {part: listed.replace("@", "attributes.").split("|") for part, listed in _PATHS.items()}
    found = {part: parsed(at(record, *each)) for part, each in paths.items()}
    failed = record.get("level") == "ERROR" or at(record, "status.code") in (2, "STATUS_CODE_ERROR")
    return Span(
        **{part: text(found[part]) for part in ("id", "parent", "trace", "name", "task_id")},
        **{part: found[part] for part in ("inputs", "outputs", "instructions", "tools", "gold")},
        kind=_KINDS.get(text(found["kind"]).casefold(), ""),
        begun=text(found["begun"]).zfill(20),
        error=text(record.get("error")) or (text(found["trouble"]) if failed else ""),
        scores={name: value for name, value in _scores(record) if value is not None},
    )


def _scores(record: Json) -> Iterator[tuple[str, Any]]:
    """By name: a figure, or the one category that was chosen."""
    stats = [{"key": key, **mapping(each)} for key, each in mapping(record.get("feedback_stats")).items()]
    listed = [*items(record.get("feedback")), *items(record.get("scores"))]
    for each in map(mapping, (*stats, *listed, at(record, "attributes.gen_ai.evaluation"))):
        value = first(each, "avg", "score", "value", "stringValue", "string_value")
        value = first(value, "value", "label") if isinstance(value, dict) else value
        chosen = list(mapping(each.get("values")))
        name = text(first(each, "name", "key")) or "score"
        yield name, chosen[0] if value is None and len(chosen) == 1 else value


def _langsmith(value: Any) -> Iterator[Json]:
    """A tree of runs, or a flat list whose runs name their parents."""

    def walk(run: Json, place: str, parent: str) -> Iterator[Json]:
        run = {"id": place, "parent_run_id": parent, **{key: run[key] for key in run if run[key] is not None}}
        yield run
        for number, child in enumerate(map(mapping, items(run.get("child_runs")))):
            yield from walk(child, f"{place}.{number}", text(run["id"]))

    for number, run in enumerate(map(mapping, rows(value, "runs"))):
        yield from walk(run, f"#{number}", "")


def _langfuse(value: Any) -> Iterator[Json]:
    """Traces with their observations, or observations alone; those that came by OpenTelemetry keep its
    attributes among their metadata."""
    for each in map(mapping, rows(value, "data")):
        within = items(each.get("observations"))
        trace = {**each, **mapping(each.get("trace"))}
        traced = [{**trace, "type": "TRACE", "traceId": trace.get("id")}] if within else []
        for record in (*traced, *map(mapping, within or [each])):
            read = {key: parsed(found) for key, found in record.items()}
            known = {key: found for key, found in read.items() if found not in (None, {}, [])}
            of_trace = trace.get("id") if within else None
            owner = None if record in traced else first(known, "traceId", "trace_id") or of_trace
            attributes = _nested(mapping(at(known, "metadata.attributes")))
            yield {"traceId": owner, "parentObservationId": owner, **known, "attributes": attributes}


def _otlp(value: Any) -> Iterator[Json]:
    """OTLP JSON, one export or a list of them."""
    for each in map(mapping, rows(value)):
        for key in ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans"):
            yield from _otlp(items(each.get(key)))
        for span in map(mapping, items(each.get("spans"))):
            events = [mapping(event) for event in items(span.get("events"))]
            told = _nested(
                {key: value for each in (span, *events) for key, value in _attributes(each).items()}
            )
            spread = [{"role": "assistant", **mapping(each)} for each in items(at(told, "gen_ai.completion"))]
            asked = _messages(events, r"gen_ai\.(system|user|assistant|tool)\.message")
            said = spread or _messages(events, r"gen_ai\.(choice)")
            yield {**span, "attributes": told, "asked": asked, "said": said}


def _attributes(owner: Json) -> Json:
    pairs = map(mapping, items(owner.get("attributes")))
    return {text(pair.get("key")): _value(pair.get("value")) for pair in pairs}


def _value(wrapped: Any) -> Any:
    """An attribute's value without OTLP's wrapping of its type."""
    for kind, inner in mapping(wrapped).items():
        if kind == "arrayValue":
            return [_value(each) for each in items(mapping(inner).get("values"))]
        return _attributes({"attributes": mapping(inner).get("values")}) if kind == "kvlistValue" else inner
    return None


def _nested(flat: Json) -> Any:
    """Attributes by the parts of their names; numbered ones, as of `gen_ai.prompt.0.role`, as a list."""
    heads: dict[str, Any] = {}
    for key, value in flat.items():
        head, _, rest = key.partition(".")
        if not rest:
            heads.setdefault(head, value)
        elif isinstance(heads.setdefault(head, {}), dict):
            heads[head][rest] = value
        else:
            heads[head] = {rest: value}
    whole = {head: _nested(inner) if isinstance(inner, dict) else inner for head, inner in heads.items()}
    numbered = bool(whole) and all(head.isdecimal() for head in whole)
    return [whole[head] for head in sorted(whole, key=int)] if numbered else whole


def _messages(events: list[Json], pattern: str) -> list[Json] | None:
    """Messages that instrumentations before v1.37 of the conventions record as events of a span."""
    messages = []
    for event in events:
        if found := re.fullmatch(pattern, text(event.get("name"))):
            told = {key: parsed(value) for key, value in _attributes(event).items()}
            told |= mapping(told.get("gen_ai.event.content"))
            role = "assistant" if found[1] == "choice" else found[1]
            messages.append({"role": role, **mapping(told.get("message")), **told})
    return messages or None


def _format(name: str, looked_for: str, records: Callable[[Any], Iterator[Json]], *needs: str) -> Format:
    """A format whose spans `records` finds; each of them has what it `needs`."""

    def claims(value: Any) -> bool:
        found = list(records(value)) if isinstance(value, dict | list) else []
        return bool(found) and all(
            at(each, *paths.split("|")) is not None for each in found for paths in needs
        )

    def read(value: Any, file: str) -> list[Loaded]:
        return traces(map(_span, records(value)), name, file)

    return Format(name, looked_for, claims, read)


FORMATS = (
    _format("langsmith", "runs with run_type", _langsmith, "run_type"),
    _format("langfuse", "observations with type; traceId", _langfuse, "traceId", "type"),
    _format("otel", "resourceSpans with attributes of gen_ai", _otlp, "spanId|span_id"),
)
