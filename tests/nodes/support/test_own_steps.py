"""A worker's own steps in its prompt: whole, and in short beyond a bound, batch by batch."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from forethought.nodes.support.excerpts import gist
from forethought.nodes.support.own_steps import MOST, NEWEST, own_steps
from forethought.nodes.support.prompt_text import Reader
from forethought.sizes import Sizes, extent
from tests.support.agent import Drive, Script
from tests.support.replies import call

READER = Reader(Sizes(), "Look up how many units each bin holds.")
RECORD = "It was counted by the early shift, and its label agrees with the list.\n"


def steps(count: int, chars: int = 1_000) -> list[Any]:
    """As many look-ups; each tells a fact in the middle of other lines."""
    filler = RECORD * (chars // len(RECORD) // 2)
    return [
        {
            "n": n,
            "subtask": "all",
            "thought": f"thought {n}",
            "action": "call",
            "tool": "lookup",
            "arguments": {"bin": n},
            "expected": "",
            "observation": f"Record {n}.\n{filler}Bin {n} holds {n * 7} units.\n{filler}",
            "ok": True,
            "cause": "",
            "surprise": "none",
            "origin": "tool:lookup",
        }
        for n in range(1, count + 1)
    ]


def prompt(count: int, reader: Reader = READER, chars: int = 1_000) -> str:
    """What the prompt shows of so many steps."""
    short, items = own_steps(steps(count, chars), reader)
    return "\n".join([short, *(item["text"] for item in items)]).lstrip()


def numbers(items: list[dict[str, Any]]) -> list[int]:
    """The numbers of the steps that are whole."""
    return [item["n"] for item in items]


def test_a_dozen_steps_are_whole_and_then_all_but_the_newest_are_short_at_once() -> None:
    assert own_steps([], READER) == ("", [])
    short, whole = own_steps(steps(MOST), READER)
    assert (short, numbers(whole)) == ("", list(range(1, MOST + 1)))
    short, whole = own_steps(steps(MOST + 1), READER)
    assert numbers(whole) == list(range(MOST + 2 - NEWEST, MOST + 2))
    assert short.startswith('step 1 (thought 1) lookup({"bin": 1}): Record 1.')
    assert whole[-1]["text"].startswith(
        'thought: thought 13\nmove: lookup({"bin": 13})\nobserved: Record 13.'
    )


@pytest.mark.parametrize(
    ("reader", "chars"), [(READER, 1_000), (READER, 15_000), (Reader(Sizes(8_000)), 300)]
)
def test_a_prompt_only_grows_at_its_end_but_at_a_batchs_edge(reader: Reader, chars: int) -> None:
    prompts = [prompt(count, reader, chars) for count in range(1, 121)]
    starts = [own_steps(steps(count, chars), reader)[1][0]["n"] for count in range(1, 121)]
    changed = [not after.startswith(before) for before, after in pairwise(prompts)]
    assert changed == [before != after for before, after in pairwise(starts)]
    assert 0 < sum(changed) <= 60


def test_what_is_in_short_stays_as_it_is_until_its_room_halves() -> None:
    texts = [own_steps(steps(count), READER)[0] for count in range(1, 129)]
    assert sum(not after.startswith(before) for before, after in pairwise(texts)) <= 1


def test_the_facts_of_hundred_small_observations_can_be_derived() -> None:
    for count in (100, 150):
        found = re.findall(r"Bin (\d+) holds (\d+) units", prompt(count))
        assert [int(n) for n, _ in found] == list(range(1, count + 1))
        assert sum(int(units) for _, units in found) == sum(n * 7 for n in range(1, count + 1))


@pytest.mark.parametrize("window", [8_000, 32_000, 128_000])
@pytest.mark.parametrize("count", [1, 40, 300, 1_000])
@pytest.mark.parametrize("chars", [10, 5_000, 20_000])
def test_the_newest_is_whole_and_all_fit_their_share_of_the_window(
    window: int, count: int, chars: int
) -> None:
    reader = Reader(Sizes(window), READER.query)
    long = steps(count, min(chars, reader.sizes.observation - 200))
    short, whole = own_steps(long, reader)
    assert whole[-1]["text"].endswith(long[-1]["observation"])
    assert extent(short) + sum(extent(item["text"]) for item in whole) <= reader.sizes.seen * 1.1


def test_a_gist_is_what_bears_on_the_query() -> None:
    text = steps(1, 10_000)[0]["observation"]
    assert gist(text, "units bin holds", len(text)) == text
    assert gist(text, "units bin holds", 200) == f"Record 1.\n{RECORD}Bin 1 holds 7 units."
    assert gist(text, "pears", 20) == "Record 1."
    assert extent(gist("x" * 5_000, "pears", 300)) <= 300


async def test_a_worker_of_many_calls_sees_its_first_ones_in_short(drive: Drive) -> None:
    moves = [call(f"k{n}", finishes=False) for n in range(MOST + 2)]
    out = await drive(Script(moves={"a": moves}), max_steps=40, effort="auto")
    texts = [seen.messages[1][1] for seen in out.asked("ToolChoice")]
    assert "<steps>" not in texts[MOST]
    assert "# Your successful steps since" in texts[MOST + 1]
    block = texts[MOST + 1].split("<steps>\n")[1].split("\n</steps>")[0]
    assert block.endswith("\n[The same call shows what is missing.]")
    assert [f"value of k{n}" in block for n in (0, 1, MOST - NEWEST)] == [True] * 3
