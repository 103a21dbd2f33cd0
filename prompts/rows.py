"""The reply of the model that reads many documents: a row each, with the fields that the agent asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forethought.models.types import ReplySpec
from forethought.prompts.tool_choice import closed
from forethought.tools.each.fields import FieldSpec

Json = dict[str, Any]
_TYPES: dict[str, Json] = {
    "text": {"type": ["string", "null"]},
    "number": {"type": ["number", "null"]},
    "date": {"type": ["string", "null"]},
    "yes_no": {"anyOf": [{"type": "string", "enum": ["yes", "no"]}, {"type": "null"}]},
}


def rows_spec(fields: Sequence[FieldSpec], count: int) -> ReplySpec[list[Json | None]]:
    """The spec of the rows of `count` documents: by document {quote, value} of each field, None if its row is
    missing."""
    cells = {spec.name: closed({"quote": {"type": "string"}, "value": _TYPES[spec.type]}) for spec in fields}
    row = closed({"document": {"type": "integer"}, **{name: cells[name] for name in cells}})
    schema = closed({"rows": {"type": "array", "items": row}})

    def parse(value: Any) -> list[Json | None]:
        rows = value.get("rows") if isinstance(value, Mapping) else None
        if not isinstance(rows, list) or not any(isinstance(one, Mapping) for one in rows):
            raise ValueError("rows is missing: write one row for each document")
        found = {one.get("document"): dict(one) for one in rows if isinstance(one, Mapping)}
        if len(rows) == count == 1:
            found[1] = dict(rows[0])
        return [found.get(number) for number in range(1, count + 1)]

    return ReplySpec("Rows", schema, parse)
