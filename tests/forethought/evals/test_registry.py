"""Every name leads to what it names."""

from __future__ import annotations

import pytest

from forethought.evals import registry


@pytest.mark.parametrize("name", registry.BENCHMARKS)
def test_every_benchmark_can_be_imported_and_bears_its_name(name: str) -> None:
    found = registry.benchmark(name)
    assert found.name == name
    assert found.title
    assert found.about
    assert "\n" not in found.about


def test_every_method_bears_its_name() -> None:
    names = registry.method_names()
    assert names[0] == "ours"
    assert len(set(names)) == len(names)
    for name in names:
        assert registry.method(name).name == name


@pytest.mark.parametrize("name", ["nothing", "no.such.module:X", "forethought.evals.registry:nothing", ":"])
def test_unknown_names_are_one_line(name: str) -> None:
    for look in (registry.benchmark, registry.method):
        with pytest.raises(registry.UnknownNameError) as told:
            look(name)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "json:loads",
            "json:loads is no method: name an object of a subclass of forethought.evals.types.",
        ),
        ("forethought.evals.methods.ours:Ours", "is no method: name an object"),
        ("forethought.evals.baselines.react:React", "is no method: name an object"),
        ("tests.support.tiny_benchmark:BENCHMARK", "is no method: name an object"),
    ],
    ids=["function", "dataclass", "class", "benchmark"],
)
def test_what_is_no_method_is_told(path: str, said: str) -> None:
    with pytest.raises(registry.UnknownNameError) as told:
        registry.method(path)
    assert said in str(told.value)


def test_what_is_no_benchmark_is_told() -> None:
    with pytest.raises(registry.UnknownNameError, match="is no benchmark: name an object of a subclass"):
        registry.benchmark("tests.support.tiny_benchmark:once")
