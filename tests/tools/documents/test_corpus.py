"""The corpus of `benchmarks/documents`: how many facts the readers get, and that no look-alike passes."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.documents.corpus import cases
from benchmarks.documents.ours import Seen
from forethought.settings import Settings

RIGHT = 307
"""Facts that today's readers get. Raise it with them."""
UNMARKED = 1
"""Look-alikes that pass for the fact. Lower it with them."""
CASES = [case for case in cases() if case.kind != "Large files"]


def test_the_corpus_is_large_and_every_case_has_a_name_of_its_own() -> None:
    assert len(CASES) >= 150
    assert sum(bool(case.traps) for case in CASES) >= 40
    assert len({case.key for case in CASES}) == len(CASES)


def test_a_fact_is_not_found_in_nothing() -> None:
    assert {case.fault(text) for case in CASES for text in ("", f"{case.name} cannot be read.")} == {
        "missing"
    }


async def test_the_readers_get_as_many_facts_as_before(settings: Callable[..., Settings]) -> None:
    faults: dict[str, str] = {}
    for case in CASES:
        seen = Seen(case.name, case.data(), settings())
        await seen.see(case.question, read_only=not case.where)
        faults[case.key] = case.fault(seen.texts[case.where or "read"])
    wrong = {key: fault for key, fault in faults.items() if fault}
    assert len(faults) - len(wrong) >= RIGHT, wrong
    assert sum(fault.startswith("unmarked") for fault in wrong.values()) <= UNMARKED, wrong
