"""What an evaluation paid for: every call that was counted, whatever a kill left of the last line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forethought.evals.harness.ledger import Ledger
from forethought.models.types import Usage, no_usage


def usage(tokens: int) -> Usage:
    """Of one call."""
    return Usage(no_usage(), calls=1, input_tokens=tokens, usd=0.5, seconds=0.25)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(calls=st.lists(st.integers(0, 10**9), max_size=4), cut=st.integers(0, 200))
def test_what_was_counted_is_found_again_but_for_a_torn_line(
    tmp_path: Path, calls: list[int], cut: int
) -> None:
    path = tmp_path / "spent.jsonl"
    path.unlink(missing_ok=True)
    ledger = Ledger.open(path)
    for tokens in calls:
        ledger.add(usage(tokens))
    assert Ledger.open(path).usage == ledger.usage

    whole = path.read_bytes() if calls else b""
    path.write_bytes(whole[: max(0, len(whole) - cut)])
    left = path.read_bytes()
    found = left.count(b"\n") + left.endswith(b"}")
    kept = calls[:found]
    again = Ledger.open(path)
    assert (again.usage["calls"], again.usage["input_tokens"]) == (len(kept), sum(kept))
    again.add(usage(1))
    assert Ledger.open(path).usage["input_tokens"] == sum(kept) + 1


@pytest.mark.parametrize("line", ['{"calls": -1}', "[]", "half"])
def test_a_damaged_line_is_an_error(tmp_path: Path, line: str) -> None:
    path = tmp_path / "spent.jsonl"
    Ledger.open(path).add(usage(3))
    text = f"{path.read_text()}{line}\n{path.read_text()}"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"spent\.jsonl:2: damaged .*; remove the line"):
        Ledger.open(path)
    assert path.read_text() == text
