"""Folders of evaluations, as `forethought eval run` leaves them, made without running any."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def run_record(**changes: Any) -> dict[str, Any]:
    """A run.json."""
    return {
        "benchmark": "small-shop",
        "title": "Small shop",
        "main_metric": "success",
        "methods": ["ours", "react"],
        "trials": 1,
        "seed": 7,
        "model": "openai:scripted",
        "budget": {"max_steps": 20, "max_tokens": 100_000},
        **changes,
    }


def result_record(method: str, sample: str, score: float | None, **changes: Any) -> dict[str, Any]:
    """A line of results.jsonl."""
    usage = {"calls": 4, "input_tokens": 900, "output_tokens": 100, "cached_tokens": 0, "usd": 0.01}
    return {
        "method": method,
        "sample": sample,
        "trial": 1,
        "score": score,
        "values": {} if score is None else {"success": score},
        "usage": usage,
        "seconds": 2.0,
        "steps": 3,
        "status": "answered" if score is not None else "",
        **changes,
    }


def write_folder(folder: Path, results: Sequence[Mapping[str, Any]], **run: Any) -> Path:
    """An evaluation's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(run_record(**run)))
    (folder / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results))
    return folder
