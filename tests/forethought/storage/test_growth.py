"""What a step costs in each database: about the same, however long the thread has become."""

from __future__ import annotations

from benchmarks.storage_growth import STEP_BYTES, grow
from forethought.storage import Address, open_threads


async def test_a_thread_grows_with_what_was_added(address: Address) -> None:
    async with open_threads(address) as saver:
        at = await grow(saver, (50, 100, 150, 200))
    first, second, third, fourth = (size for _, size, _ in at)
    added = [second - first, third - second, fourth - third]
    assert added[-1] < 1.8 * added[0], at
    assert (fourth - first) / 150 < 8 * STEP_BYTES, at
