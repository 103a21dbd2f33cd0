"""Writes the 100 HotpotQA questions of Reflexion, with their paragraphs, in HotpotQA's own form.

    git clone https://github.com/noahshinn/reflexion
    pip install joblib 'numpy<2' 'pandas<2'
    python benchmarks/reflexion_questions.py reflexion/hotpotqa_runs/data/*.joblib DIR

Needs Python 3.11, the last that such a pandas runs on, and nothing of this project. `forethought eval run
hotpotqa --data DIR` reads what it writes. A joblib file is a pickle, which can run any code when it is
loaded: give it that file of that repository only.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

NAME = "hotpot_dev_distractor_v1.json"


def record(row: dict[str, Any]) -> dict[str, Any]:
    """A question as HotpotQA's files have it."""
    facts, context = row["supporting_facts"], row["context"]
    return {
        "_id": row["id"],
        **{name: row[name] for name in ("question", "answer", "type", "level")},
        "supporting_facts": [
            [title, int(at)] for title, at in zip(facts["title"], facts["sent_id"], strict=True)
        ],
        "context": [
            [title, [str(sentence) for sentence in sentences]]
            for title, sentences in zip(context["title"], context["sentences"], strict=True)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("joblib", type=Path, help="the file hotpot-qa-distractor-sample.joblib")
    parser.add_argument("folder", type=Path, help="output file")
    given = parser.parse_args()
    rows = [record(row) for row in import_module("joblib").load(given.joblib).to_dict("records")]
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / NAME).write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    print(f"{len(rows)} questions in {given.folder / NAME}")


if __name__ == "__main__":
    main()
