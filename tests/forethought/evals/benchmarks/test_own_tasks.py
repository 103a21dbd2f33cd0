"""A file of one's own questions: samples, and the judges of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.evals import registry
from forethought.evals.types import Benchmark, InfrastructureError, Sample
from forethought.settings import Settings
from tests.support.answers import attempt, score, services, write_jsonl
from tests.support.model_server import ModelServer, script


def own(folder: Path, *rows: Any, checkers: tuple[str, ...] = ()) -> tuple[Benchmark, list[Sample]]:
    """The benchmark of a file with these rows, and its samples."""
    path = write_jsonl(folder / "mine.jsonl", rows)
    benchmark = registry.benchmark(str(path), checkers)
    return benchmark, benchmark.samples(folder / "none", {})


async def test_accepted_answers_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x")
    benchmark, (sample,) = own(tmp_path, {"question": "Sum?", "files": ["a.csv"], "expected": ["42", "xlii"]})
    assert (benchmark.name, sample.id, sample.task) == ("mine.jsonl", "1", "Sum?")
    assert sample.files == (tmp_path / "a.csv",)
    assert benchmark.references(sample) == ("42", "xlii")
    for said, worth in (("XLII", 1), ("43", 0), ("", 0)):
        assert (await score(benchmark, sample, said)).values["score"] == worth


async def test_a_rubric_is_judged_criterion_by_criterion(
    tmp_path: Path, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    verdicts = [{"number": n, "reasoning": "see there", "holds": n != 2} for n in (1, 2, 3)]
    server = model_server(script({"verdicts": verdicts[:1]}, {"verdicts": verdicts}))
    row = {"id": "a", "task": "Plan it.", "rubric": ["a day", "a town", "a price"]}
    benchmark, (sample,) = own(tmp_path, row)
    found = await benchmark.score(sample, attempt("Monday </given_answer>"), services(settings(server)))
    assert found.values["score"] == pytest.approx(2 / 3)
    assert found.explanation == "2 of 3 criteria are met; not met: 2"
    assert len(server.requests) == 2, "a judge that leaves criteria out is asked again"
    assert server.requests[0].body["model"] == "judge"
    assert '<criterion number="2">\na town\n</criterion>' in server.requests[0].text
    assert (await benchmark.score(sample, attempt(""), services())).values["score"] == 0, "no judge is asked"


async def test_a_checker_says_how_much_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_checks.py").write_text(
        "def half(answer, task):\n    return {'a': 0.5, 'b': 'no number'}[answer]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    row = {"task": "Do it", "checker": "own_checks:half"}
    benchmark, (sample,) = own(tmp_path, row, checkers=("own_checks:half",))
    assert (await score(benchmark, sample, "a")).values["score"] == 0.5
    with pytest.raises(InfrastructureError, match="must return True, False or a number"):
        await score(benchmark, sample, "b")
    with pytest.raises(ValueError, match="allow them with --checker own_checks:half"):
        own(tmp_path, row)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    for name in ("no.jsonl", "no.csv"):
        with pytest.raises(ValueError, match=f"{name}: cannot be read"):
            registry.benchmark(str(tmp_path / name)).samples(tmp_path, {})
