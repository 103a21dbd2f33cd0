"""Holds our SimpleQA figures against those of simple-evals, which are run on the same grades.

    git clone https://github.com/openai/simple-evals
    pip install jinja2 numpy pandas requests tqdm
    python benchmarks/agreement/simpleqa.py --repo simple-evals

Its sampler and its grader are scripted, so that every answer has the grade that was drawn for it. It prints
three decimals: so many are compared.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from comparison import Comparison, finish, repo_argument

from forethought.evals.benchmarks.simpleqa import GRADES, aggregate

SETS, LARGEST = 100, 40
_LETTERS = dict(zip(GRADES, "ABC", strict=True))
_PRINTED = re.compile(r"Accuracy Given Attempted: ([\d.]+)\nF1 Score: ([\d.]+)")


class Scripted:
    """A sampler of simple-evals: an answer is its question, a grade the letter that the question holds."""

    def __init__(self, types: ModuleType) -> None:
        self._types = types

    def _pack_message(self, content: str, role: str) -> dict[str, str]:
        return {"role": role, "content": content}

    def __call__(self, messages: list[dict[str, str]]) -> Any:
        content = messages[-1]["content"]
        graded = re.search(r"^Predicted answer: grade (\w)$", content, re.MULTILINE)
        said = graded[1] if graded else content
        return self._types.SamplerResponse(
            response_text=said, actual_queried_message_list=messages, response_metadata={}
        )


def package(repo: Path) -> ModuleType:
    """The checkout as the package that its files take it for; its own __init__ is not there."""
    if not (repo / "simpleqa_eval.py").is_file():
        raise SystemExit(f"{repo}/simpleqa_eval.py: not found; give the checkout with --repo")
    made = ModuleType("simple_evals")
    made.__path__ = [str(repo)]
    sys.modules["simple_evals"] = made
    return importlib.import_module("simple_evals.simpleqa_eval")


def official_figures(code: ModuleType, grades: list[str]) -> tuple[float, float]:
    """Correct given attempted and F1, as simple-evals prints them."""
    evaluation = code.SimpleQAEval.__new__(code.SimpleQAEval)  # Its __init__ downloads the questions.
    scripted = Scripted(sys.modules["simple_evals.types"])
    evaluation.grader_model = scripted
    evaluation.examples = [{"problem": f"grade {_LETTERS[grade]}", "answer": "-"} for grade in grades]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        evaluation(scripted)
    found = _PRINTED.search(printed.getvalue())
    assert found, "simple-evals printed no figures"
    return float(found[1]), float(found[2])


def main() -> None:
    code = package(repo_argument(__doc__, "openai/simple-evals").parse_args().repo)
    rng = random.Random(0)
    given, f1 = Comparison("SimpleQA, correct given attempted"), Comparison("SimpleQA, F1")
    for _ in range(SETS):
        # Some sets have grades of one or two kinds only, as far as nothing attempted.
        kinds = rng.sample(GRADES, rng.randrange(1, 4))
        grades = rng.choices(kinds, k=rng.randrange(1, LARGEST))
        theirs, ours = official_figures(code, grades), aggregate(grades)
        given.add(theirs[0], round(ours["correct_given_attempted"], 3), str(grades))
        f1.add(theirs[1], round(ours["f1"], 3), str(grades))
    raise SystemExit(finish([given, f1]))


if __name__ == "__main__":
    main()
