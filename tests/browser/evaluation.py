"""An evaluation whose every text is an attack."""

from __future__ import annotations

import json
from pathlib import Path

from tests.browser.hostile import ATTACKS
from tests.support.evaluations import result_record, write_folder


def prepare_evaluation(folder: Path) -> Path:
    """The folder, as `eval run` leaves one."""
    said = "\n".join(ATTACKS)
    place = "trajectories/ours/a--1.json"
    lines = [
        result_record(
            "ours", "a", 1.0, answer=said, explanation=said, trajectory=place, groups={"kind": said}
        ),
        result_record("react", said, 0.0, answer=said),
        result_record("react", "a", None, error=said),
    ]
    write_folder(folder, lines, title=said, model=said)
    steps = [{"number": n, "action": said, "planning": said, "observation": said} for n in range(1, 3)]
    (folder / place).parent.mkdir(parents=True)
    (folder / place).write_text(json.dumps({"trajectory": {"id": "a", "task": said, "steps": steps}}))
    return folder
