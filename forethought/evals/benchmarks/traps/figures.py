"""Traps in tables: what a figure means stands elsewhere."""

from __future__ import annotations

import random

from forethought.evals.benchmarks.traps.exercise import GOODS, MONTHS, PEOPLE, TOWNS, Exercise, trap
from forethought.evals.benchmarks.traps.office import csv_file, slides, text_file, word_file, workbook


@trap
def footnote(rng: random.Random) -> Exercise:
    """A footnote below the table says that one figure leaves something out."""
    towns = rng.sample(TOWNS, 5)
    visitors = [rng.randrange(1_200, 9_800) for _ in towns]
    marked, missing = rng.randrange(5), rng.randrange(200, 900)
    rows = [
        (town, f"{count}{' *' if at == marked else ''}")
        for at, (town, count) in enumerate(zip(towns, visitors, strict=True))
    ]
    report = word_file(
        "# Visitors of the museums",
        "The table gives the visitors of the year by town.",
        [("Town", "Visitors"), *rows],
        "All museums were open from March to November.",
        f"* Without the {missing} visitors of the open day, who were counted by hand and belong to the year.",
    )
    return Exercise(
        "How many visitors did the museums of all towns together have in the year?",
        str(sum(visitors) + missing),
        str(sum(visitors)),
        {"visitors.docx": report},
    )


@trap
def hidden_sheet(rng: random.Random) -> Exercise:
    """A hidden sheet corrects a price."""
    goods = rng.sample(GOODS, 6)
    prices = [rng.randrange(12, 190) for _ in goods]
    at = rng.randrange(6)
    right, (first, second) = prices[at] + rng.randrange(3, 11), (rng.randrange(2, 9), rng.randrange(2, 9))
    other = (at + 1) % 6
    book = workbook(
        {
            "Prices": [("Article", "Price in EUR"), *zip(goods, prices, strict=True)],
            "Corrections": [("Article", "Printed price", "Valid price"), (goods[at], prices[at], right)],
        },
        hidden=["Corrections"],
    )
    return Exercise(
        (
            f"What do {first} pieces of the article '{goods[at]}' and {second} of '{goods[other]}' cost "
            "together in euros, by the price list?"
        ),
        str(first * right + second * prices[other]),
        str(first * prices[at] + second * prices[other]),
        {"price-list.xlsx": book},
    )


@trap
def cell_comment(rng: random.Random) -> Exercise:
    """A comment says that one count is of boxes."""
    goods = rng.sample(GOODS, 5)
    counts = [rng.randrange(20, 120) for _ in goods]
    at, size = rng.randrange(5), rng.choice((6, 8, 12))
    book = workbook(
        {"Stock": [("Article", "In stock"), *zip(goods, counts, strict=True)]},
        comments={("Stock", f"B{at + 2}"): f"Counted in boxes of {size}, all others in pieces."},
    )
    pieces = sum(counts) + counts[at] * (size - 1)
    return Exercise(
        "How many pieces of all articles together are in stock?",
        str(pieces),
        str(sum(counts)),
        {"stock.xlsx": book},
    )


@trap
def speaker_note(rng: random.Random) -> Exercise:
    """The notes of a slide say which of its figures is only a plan."""
    towns = rng.sample(TOWNS, 4)
    sales = [rng.randrange(150, 900) for _ in towns]
    at, actual = rng.randrange(4), rng.randrange(100, 149)
    lines = [f"{town}: {amount} thousand EUR" for town, amount in zip(towns, sales, strict=True)]
    note = (
        f"The figure for {towns[at]} was still the plan when the slide was made; what came in was {actual} "
        "thousand EUR."
    )
    deck = slides(
        ("Spring quarter", ["Results of the branches"], ""),
        ("Sales by branch", lines, note),
        ("Outlook", ["Two new branches next year"], "Thank the teams."),
    )
    return Exercise(
        "How many thousand euros did the four branches sell for in the spring quarter, in all?",
        str(sum(sales) - sales[at] + actual),
        str(sum(sales)),
        {"quarter.pptx": deck},
    )


@trap
def units(rng: random.Random) -> Exercise:
    """Weights in grams and kilograms in one column."""
    goods = rng.sample(GOODS, 7)
    grams = [rng.randrange(4, 60) * 250 for _ in goods]
    mixed = [rng.random() < 0.5 for _ in goods]
    mixed[0], mixed[1] = True, False
    rows = [
        (name, weight if small else f"{weight / 1000:g}", "g" if small else "kg", rng.randrange(1, 4))
        for name, weight, small in zip(goods, grams, mixed, strict=True)
    ]
    total = sum(weight * row[3] for weight, row in zip(grams, rows, strict=True))
    return Exercise(
        "What does the whole load weigh in grams, all pieces of all articles?",
        str(total),
        (f"{sum(float(row[1]) * row[3] for row in rows):g}"),
        {"load.csv": csv_file(("article", "weight_of_a_piece", "unit", "pieces"), rows)},
    )


@trap
def subtotals(rng: random.Random) -> Exercise:
    """Rows of subtotals between the rows that they sum up."""
    rows: list[tuple[str, str, int]] = []
    total = 0
    for quarter in range(1, 5):
        months = [rng.randrange(300, 2_000) for _ in range(3)]
        names = MONTHS[3 * quarter - 3 : 3 * quarter]
        rows += [("month", name, amount) for name, amount in zip(names, months, strict=True)]
        rows.append(("all", f"Q{quarter}", sum(months)))
        total += sum(months)
    return Exercise(
        "How much was spent in the whole year, in euros, by expenses.csv?",
        str(total),
        str(2 * total),
        {"expenses.csv": csv_file(("kind", "period", "eur"), rows)},
    )


@trap
def resubmission(rng: random.Random) -> Exercise:
    """Some people answered twice, and the rules say which of their answers counts."""
    people = rng.sample(PEOPLE, 9)
    first = [(f"2026-03-{2 + at:02}", name, rng.choice(("yes", "no"))) for at, name in enumerate(people)]
    again = [
        (f"2026-03-{15 + at:02}", name, "no" if vote == "yes" else "yes")
        for at, (_, name, vote) in enumerate(rng.sample(first, 3))
    ]
    late = [("2026-03-22", next((name for _, name, vote in first if vote == "no"), people[0]), "yes")]
    final = {name: vote for _, name, vote in [*first, *again]}
    rules = text_file(
        "# Survey on the new office hours",
        "Whoever takes part may answer again; the last answer counts.",
        "Answers are taken until 20 March 2026. What comes later does not count.",
    )
    answers = csv_file(("date", "name", "answer"), [*first, *again, *late])
    return Exercise(
        "How many people are for the new office hours ('yes') in the survey's result?",
        str(sum(vote == "yes" for vote in final.values())),
        str(sum(vote == "yes" for _, _, vote in [*first, *again, *late])),
        {"answers.csv": answers, "rules.md": rules},
    )
