"""A small StableToolBench: a query set, and a virtual API server in its protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.web_server import Asked, Sent

Json = dict[str, Any]
SET = "G1_instruction"
JSON = {"Content-Type": "application/json"}


def parameter(name: str, kind: str = "STRING", default: Any = "", description: str = "") -> Json:
    """A parameter as the benchmark lists it."""
    return {"name": name, "type": kind, "description": description, "default": default}


def listed(api: str, tool: str = "Weather Pro", category: str = "Weather, Sky", **changes: Any) -> Json:
    """An entry of an api_list."""
    return {
        "category_name": category, "tool_name": tool, "api_name": api, "api_description": f"Gives {api}.",
        "required_parameters": [parameter("city", default="Ulm", description="A  city.")],
        "optional_parameters": [parameter("Days", "NUMBER"), parameter("id"), parameter("Ok?", "BOOLEAN")],
        "method": "GET", **changes,
    }  # fmt: skip


def query(key: int = 7, *apis: Json) -> Json:
    """A query of a set."""
    text = f"What is the weather in Ulm, number {key}?"
    return {"query": text, "query_id": key, "api_list": list(apis or [listed("Get Forecast")])}


def write_sets(folder: Path, queries: list[Json] | None = None, name: str = SET) -> Path:
    """A checkout with one set."""
    path = folder / "solvable_queries" / "test_instruction" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([query()] if queries is None else queries))
    return folder


def weather(asked: Asked) -> Sent:
    """The server: it knows one city, and what it is asked of others decides how it fails."""
    given = json.loads(asked.body)
    city = json.loads(given["tool_input"]).get("city")
    if city == "broken":
        return Sent("down", status=503)
    if city == "odd":
        return Sent("<p>no JSON</p>")
    if city == "long":
        return Sent(json.dumps({"error": "", "response": "rain " * 900}), headers=JSON)
    if city != "Ulm":
        return Sent(json.dumps({"error": "Unknown city", "response": ""}), headers=JSON)
    return Sent(json.dumps({"error": "", "response": {"sky": "clear"}}), headers=JSON)
