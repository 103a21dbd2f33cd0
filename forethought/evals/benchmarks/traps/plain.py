"""Exercises without a trap: trivial ones, and follow-ups, whose question says only what has changed."""

from __future__ import annotations

import random
from datetime import date, timedelta

from forethought.evals.benchmarks.traps.exercise import (
    GOODS,
    MONTHS,
    PEOPLE,
    TOWNS,
    Exercise,
    follow_up,
    trivial,
)  # fmt: skip
from forethought.evals.benchmarks.traps.office import csv_file, text_file, workbook
from forethought.evals.types import EarlierTask


@trivial
def per_cent(rng: random.Random) -> Exercise:
    """Mental arithmetic."""
    share, whole = rng.randrange(2, 20) * 5, rng.randrange(11, 60) * 100
    return Exercise(f"What is {share} per cent of {whole}?", str(share * whole // 100))


@trivial
def days_later(rng: random.Random) -> Exercise:
    """A date within a month."""
    start, days = date(2026, rng.randrange(1, 13), rng.randrange(1, 10)), rng.randrange(3, 18)
    return Exercise(
        f"Which date is {days} days after {start:%d %B %Y}?",
        str(start + timedelta(days=days)),
        answer_format="A date as YYYY-MM-DD.",
    )


@trivial
def minutes(rng: random.Random) -> Exercise:
    """Hours as minutes."""
    hours, rest = rng.randrange(2, 9), rng.randrange(1, 60)
    return Exercise(f"How many minutes are {hours} hours and {rest} minutes?", str(60 * hours + rest))


@trivial
def first_name(rng: random.Random) -> Exercise:
    """The alphabet."""
    names = rng.sample(PEOPLE, 5)
    return Exercise(
        f"Which of these people comes first in the alphabet by first name: {', '.join(names)}?",
        min(names),
        answer_format="First name and surname.",
    )


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
def price(rng: random.Random) -> Exercise:
    """One cell of a sheet."""
    rows = [(name, rng.randrange(12, 190)) for name in rng.sample(GOODS, 6)]
    name, amount = rng.choice(rows)
    return Exercise(
        f"What does the article '{name}' cost in euros?",
        str(amount),
        files={"prices.xlsx": workbook({"Prices": [("Article", "Price in EUR"), *rows]})},
    )


@trivial
def notice(rng: random.Random) -> Exercise:
    """One sentence of a text."""
    days, weeks = rng.randrange(10, 60), rng.randrange(2, 12)
    terms = text_file(
        "# Terms", f"Invoices are paid within {days} days.", f"The contract ends with {weeks} weeks' notice."
    )
    return Exercise("Within how many days are invoices paid?", str(days), files={"terms.md": terms})


@trivial
def headcount(rng: random.Random) -> Exercise:
    """Rows that meet one condition."""
    rows = [(name, rng.choice(TOWNS[:2])) for name in rng.sample(PEOPLE, 10)]
    return Exercise(
        f"How many people work in {TOWNS[0]}?",
        str(sum(town == TOWNS[0] for _, town in rows)),
        files={"people.csv": csv_file(("name", "town"), rows)},
    )


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
def another_row(rng: random.Random) -> Exercise:
    """The same of another town, from a file."""
    rows = [(town, rng.randrange(20, 90), rng.randrange(100, 900)) for town in rng.sample(TOWNS, 5)]
    (one, chairs, _), (other, wanted, lamps) = rows[:2]
    return Exercise(
        f"And in {other}?",
        str(wanted),
        str(wanted + lamps),
        {"stock.csv": csv_file(("branch", "chairs", "lamps"), rows)},
        earlier=(EarlierTask(f"How many chairs are in stock in {one}, by stock.csv?", str(chairs)),),
    )


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


@follow_up
def difference(rng: random.Random) -> Exercise:
    """The earlier answer against a figure of the file."""
    rows = [(town, rng.randrange(20, 90)) for town in rng.sample(TOWNS, 5)]
    rows[1] = (rows[1][0], rows[0][1] + rng.randrange(5, 30))
    (one, fewer), (other, more) = rows[:2]
    return Exercise(
        f"How many more are that in {other}?",
        str(more - fewer),
        str(more),
        {"desks.csv": csv_file(("branch", "desks"), rows)},
        earlier=(EarlierTask(f"How many desks does the branch in {one} have, by desks.csv?", str(fewer)),),
    )


@follow_up
def same_person(rng: random.Random) -> Exercise:
    """A person whom only the earlier answer names."""
    town, rows = rng.choice(TOWNS), [(name, rng.randrange(2, 28)) for name in rng.sample(PEOPLE, 6)]
    name, days = rng.choice(rows)
    return Exercise(
        "How many days was this person absent, by absences.csv?",
        str(days),
        str(sum(count for _, count in rows)),
        {"absences.csv": csv_file(("name", "days"), rows)},
        earlier=(EarlierTask(f"Who is the head of the branch in {town}?", name),),
    )


@follow_up
def next_in_rank(rng: random.Random) -> Exercise:
    """The next one of a ranking that the earlier question began."""
    counts = rng.sample(range(1_200, 9_800), 6)
    rows = sorted(zip(rng.sample(TOWNS, 6), counts, strict=True), key=lambda row: -row[1])
    shown = rng.sample(rows, 6)
    return Exercise(
        "And the second fewest?",
        rows[-2][0],
        rows[1][0],
        {"visitors.csv": csv_file(("town", "visitors"), shown)},
        "The name of one town.",
        (EarlierTask("Which town had the fewest visitors, by visitors.csv?", rows[-1][0]),),
    )
