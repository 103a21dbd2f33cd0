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
