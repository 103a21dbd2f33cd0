"""The measurement of a folder's index runs, and its figures hold together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.folder_speed import recall
from benchmarks.folder_speed.documents import SHARES, make_documents
from benchmarks.folder_speed.speed import measured


def test_a_small_folder_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("psutil")
    root, data = tmp_path / "documents", tmp_path / "data"
    size = make_documents(root, 100)
    files = [path for path in root.rglob("*") if path.is_file()]
    assert {path.suffix[1:] for path in files} == set(SHARES)
    assert (len(files), sum(path.stat().st_size for path in files)) == (100, size)
    first = measured("first_start", root, data)
    assert first["files"] == 100 + first["unreadable"]  # photos in mails
    assert first["memory"] > 10e6
    assert first["cpu"] > 0
    later = measured("later_use", root, data)
    assert later["again"] < first["seconds"]
    assert 0 < later["p50"] <= later["p95"]
    assert later["index"] > 0.2 * later["text"] > 0


def test_recall_counts_the_supporting_paragraphs_found(tmp_path: Path) -> None:
    rows = [
        {
            "question": "Who wrote the opera of the lighthouse keeper?",
            "context": [["Opera", ["The lighthouse keeper is an opera."]], ["Ana", ["She writes operas."]]],
            "supporting_facts": [["Opera", 0], ["Nowhere", 0]],
        }
    ]
    (tmp_path / "hotpotqa.json").write_text(json.dumps(rows))
    (tmp_path / "more.json").write_text(json.dumps([{"title": "Ships", "text": "Ships need light."}]))
    questions, paragraphs = recall.read(tmp_path)
    assert set(paragraphs) == {"Opera", "Ana", "Ships"}
    assert recall.recall(questions, recall.our_search(paragraphs, tmp_path)) == 0.5
