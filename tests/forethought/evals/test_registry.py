"""Every name leads to what it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forethought.evals import registry
from forethought.evals.types import DataError


@pytest.mark.parametrize("name", registry.BENCHMARKS)
def test_every_benchmark_can_be_imported_and_bears_its_name(name: str) -> None:
    found = registry.benchmark(name)
    assert found.name == name
    assert found.title
    assert found.about
    assert "\n" not in found.about


def test_the_page_on_evaluating_names_every_benchmark() -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/evaluate.md").read_text("utf-8")
    rows = re.findall(r"^- .*", page, re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", " ".join(rows))) == set(registry.BENCHMARKS)


@pytest.mark.parametrize("name", ["nothing", "no.such.module:X", "forethought.evals.registry:nothing", ":"])
def test_unknown_names_are_one_line(name: str) -> None:
    for look in (registry.benchmark, registry.method):
        with pytest.raises(registry.UnknownNameError) as message:
            look(name)
        assert "\n" not in str(message.value)


@pytest.mark.parametrize(
    "path", ["json:loads", "forethought.evals.methods.ours:Ours", "tests.support.tiny_benchmark:BENCHMARK"]
)
def test_an_object_of_another_kind_is_refused(path: str) -> None:
    with pytest.raises(registry.UnknownNameError, match="is not a method: name an object of a subclass of"):
        registry.method(path)
    with pytest.raises(
        registry.UnknownNameError, match="is not a benchmark: name an object of a subclass of"
    ):
        registry.benchmark("tests.support.tiny_benchmark:once")


@pytest.mark.parametrize("name", sorted(set(registry.BENCHMARKS) - {"small-shop", "traps", "folder"}))
def test_missing_data_is_one_line_that_names_its_source(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"https://|github\.com|pip install") as error:
        registry.benchmark(name).samples(tmp_path / "none", {})
    assert "\n" not in str(error.value)
