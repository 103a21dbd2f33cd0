"""Exercises without a trap: trivial ones, and follow-ups, whose question says only what has changed."""

from __future__ import annotations

import random

from forethought.evals.benchmarks.traps.exercise import GOODS, MONTHS, TOWNS, Exercise, follow_up, trivial
from forethought.evals.benchmarks.traps.office import csv_file, text_file
from forethought.evals.types import EarlierTask


@trivial
def per_cent(rng: random.Random) -> Exercise:
    """Mental arithmetic."""
    share, whole = rng.randrange(2, 20) * 5, rng.randrange(11, 60) * 100
    return Exercise(f"What is {share} per cent of {whole}?", str(share * whole // 100))


@trivial
def minutes(rng: random.Random) -> Exercise:
    """Hours as minutes."""
    hours, rest = rng.randrange(2, 9), rng.randrange(1, 60)
    return Exercise(f"How many minutes are {hours} hours and {rest} minutes?", str(60 * hours + rest))


@trivial
def column_sum(rng: random.Random) -> Exercise:
    """A column to be added up."""
    rows = [(town, rng.randrange(10, 90)) for town in rng.sample(TOWNS, 5)]
    return Exercise(
        "How many chairs do all branches have together?",
        str(sum(count for _, count in rows)),
        files={"chairs.csv": csv_file(("branch", "chairs"), rows)},
    )


@trivial
def notice(rng: random.Random) -> Exercise:
    """One sentence of a text."""
    days, weeks = rng.randrange(10, 60), rng.randrange(2, 12)
    terms = text_file(
        "# Terms", f"Invoices are paid within {days} days.", f"The contract ends with {weeks} weeks' notice."
    )
    return Exercise("Within how many days are invoices paid?", str(days), files={"terms.md": terms})


def _orders(rng: random.Random) -> tuple[bytes, dict[tuple[str, str], int], dict[tuple[str, str], int]]:
    """A file of orders; by article and month the pieces kept, and those returned, all different."""
    cells = [(name, month) for name in GOODS[:4] for month in MONTHS[:4]]
    pieces = rng.sample(range(5, 80), 2 * len(cells))
    kept = dict(zip(cells, pieces, strict=False))
    returned = dict(zip(cells, pieces[len(cells) :], strict=True))
    rows = [
        (*cell, count, state)
        for counts, state in ((kept, "kept"), (returned, "returned"))
        for cell, count in counts.items()
    ]
    rng.shuffle(rows)
    return csv_file(("article", "month", "pieces", "state"), rows), kept, returned


@follow_up
def another_month(rng: random.Random) -> Exercise:
    """Article and condition are those of the earlier question."""
    orders, kept, returned = _orders(rng)
    name, (first, then) = rng.choice(GOODS[:4]), rng.sample(MONTHS[:4], 2)
    asked = f"How many pieces of the article '{name}' were ordered in {first} and not returned?"
    return Exercise(
        f"And in {then}?",
        str(kept[name, then]),
        str(kept[name, then] + returned[name, then]),
        {"orders.csv": orders},
        earlier=(EarlierTask(asked, str(kept[name, first])),),
    )


@follow_up
def two_back(rng: random.Random) -> Exercise:
    """The month is the second question's, the condition the first's."""
    orders, _, returned = _orders(rng)
    (name, other), (first, then) = rng.sample(GOODS[:4], 2), rng.sample(MONTHS[:4], 2)
    asked = f"How many pieces of the article '{name}' were returned in {first}?"
    return Exercise(
        f"And of the article '{other}'?",
        str(returned[other, then]),
        str(returned[other, first]),
        {"orders.csv": orders},
        earlier=(
            EarlierTask(asked, str(returned[name, first])),
            EarlierTask(f"And in {then}?", str(returned[name, then])),
        ),
    )


@follow_up
def standing_instruction(rng: random.Random) -> Exercise:
    """What the person asked for once holds for the questions after it."""
    orders, kept, returned = _orders(rng)
    (name, other), month = rng.sample(GOODS[:4], 2), rng.choice(MONTHS[:4])
    asked = (
        "In all questions on these orders, leave out what was returned. How many pieces of the article "
        f"'{name}' were ordered in {month}?"
    )
    return Exercise(
        f"How many pieces of the article '{other}' were ordered in {month}?",
        str(kept[other, month]),
        str(kept[other, month] + returned[other, month]),
        {"orders.csv": orders},
        earlier=(EarlierTask(asked, str(kept[name, month])),),
    )


@follow_up
def answer_together(rng: random.Random) -> Exercise:
    """The earlier answer holds all that is needed; no file is there."""
    sales = {town: rng.randrange(100, 900) for town in rng.sample(TOWNS, 4)}
    told = ", ".join(f"{town}: {amount}" for town, amount in sales.items())
    first, *_, last = sales
    return Exercise(
        f"How much is that for {first} and {last} together?",
        str(sales[first] + sales[last]),
        str(sum(sales.values())),
        earlier=(EarlierTask("What did each branch sell for in April, in thousand euros?", told),),
    )
