"""SimpleQA's figures, against those of simple-evals, which are run on the same grades.

The checkout is openai/simple-evals; it needs jinja2, numpy, pandas, requests and tqdm. Its sampler and grader
are scripted, so that every answer has the grade that was drawn for it. It prints three decimals.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import random
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.agreement.comparison import Comparison
from forethought.evals.benchmarks.simpleqa import GRADES, aggregate

SETS, LARGEST = 100, 40
_LETTERS = dict(zip(GRADES, "ABC", strict=True))
_PRINTED = re.compile(r"Accuracy Given Attempted: ([\d.]+)\nF1 Score: ([\d.]+)")


class _Scripted:
    """A sampler of simple-evals: an answer is its question, a grade the letter that the question holds."""

    def __init__(self, types: ModuleType) -> None:
        self._types = types

    def _pack_message(self, content: str, role: str) -> dict[str, str]:
        return {"role": role, "content": content}

    def __call__(self, messages: list[dict[str, str]]) -> Any:
        content = messages[-1]["content"]
        graded = re.search(r"^Predicted answer: grade (\w)$", content, re.MULTILINE)
        return self._types.SamplerResponse(
            response_text=graded[1] if graded else content,
            actual_queried_message_list=messages,
            response_metadata={},
        )


def _official_figures(code: ModuleType, grades: list[str]) -> tuple[float, float]:
    """Correct given attempted and F1, as simple-evals prints them."""
    evaluation = code.SimpleQAEval.__new__(code.SimpleQAEval)  # its __init__ downloads the questions
    evaluation.grader_model = scripted = _Scripted(sys.modules["simple_evals.types"])
    evaluation.examples = [{"problem": f"grade {_LETTERS[grade]}", "answer": "-"} for grade in grades]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        evaluation(scripted)
    found = _PRINTED.search(printed.getvalue())
    assert found, "simple-evals printed no figures"
    return float(found[1]), float(found[2])


def compare(simple_evals: Path) -> Iterable[Comparison]:
    """The two figures over generated sets of grades."""
    package = sys.modules["simple_evals"] = ModuleType("simple_evals")
    package.__path__ = [str(simple_evals)]
    code = importlib.import_module("simple_evals.simpleqa_eval")
    rng = random.Random(0)
    given, f1 = Comparison("SimpleQA, correct given attempted"), Comparison("SimpleQA, F1")
    for _ in range(SETS):
        # Some sets have grades of one or two kinds only, as far as nothing attempted.
        kinds = rng.sample(GRADES, rng.randrange(1, 4))
        grades = rng.choices(kinds, k=rng.randrange(1, LARGEST))
        theirs, ours = _official_figures(code, grades), aggregate(grades)
        given.add(theirs[0], round(ours["correct_given_attempted"], 3), grades)
        f1.add(theirs[1], round(ours["f1"], 3), grades)
    return [given, f1]
