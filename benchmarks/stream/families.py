"""The ten families: their files, and the house rule that no file states.

A maker draws a case of its family: the answer with the rule, and the plain answer without it, which differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import median

import yaml

from benchmarks.stream.cases import (
    MONTHS,
    PLACES,
    Case,
    Rows,
    day_in,
    days_in,
    file_of,
    later,
    people,
    said,
)

Maker = Callable[[random.Random, str], Case]
"""Draws a case; the second argument is the wording of its question."""


@dataclass(frozen=True)
class Family:
    """A family of tasks with one house rule."""

    kind: str
    """What kind of rule it is."""
    corrections: Sequence[str]
    """A person's words after the first wrong answer, and after a later one."""
    wordings: Sequence[str]
    make: Maker


def sales(rng: random.Random, wording: str) -> Case:
    """The canteen does not count."""
    place, month = rng.choice(PLACES), rng.randrange(1, 13)
    channels = [*rng.sample(["Web", "Phone", "Counter"] * 3, 7), *["Canteen"] * rng.randrange(2, 4)]
    rng.shuffle(channels)
    days = days_in(rng, month, len(channels))
    rows: Rows = [
        [f"{day}", channel, rng.randrange(12, 90) * 10] for day, channel in zip(days, channels, strict=True)
    ]
    counted = sum(row[2] for row in rows if row[1] != "Canteen")
    files = file_of(
        rng,
        f"{place} {MONTHS[month - 1]}",
        f"{place}, {MONTHS[month - 1]} 2026",
        [["Date", "Channel", "Euros"], *rows],
    )
    question = wording.format(place=place, month=MONTHS[month - 1])
    return Case(question, files, str(counted), str(sum(row[2] for row in rows)))


def quarter(rng: random.Random, wording: str) -> Case:
    """Quarters begin in February."""
    place, number = rng.choice(PLACES), rng.randrange(1, 4)
    counts = [rng.randrange(110, 980) for _ in MONTHS]
    while counts[3 * number] == counts[3 * number - 3]:
        counts = [rng.randrange(110, 980) for _ in MONTHS]
    files = file_of(
        rng,
        f"{place} 2025",
        f"{place}, 2025",
        [["Month", "Number"], *map(list, zip(MONTHS, counts, strict=True))],
    )
    plain = counts[3 * number - 3 : 3 * number]
    question = wording.format(place=place, quarter=("first", "second", "third")[number - 1])
    return Case(question, files, str(sum(counts[3 * number - 2 : 3 * number + 1])), str(sum(plain)))


def billing(rng: random.Random, wording: str) -> Case:
    """Each entry is billed in full quarters of an hour."""
    client, other = rng.sample(PLACES, 2)
    month = rng.randrange(1, 13)
    names = [client] * 5 + [other] * 4
    rng.shuffle(names)
    rows: Rows = [
        [f"{day}", f"{name} Ltd", rng.randrange(4, 28) * 5]
        for day, name in zip(days_in(rng, month, len(names)), names, strict=True)
    ]
    spent = [row[2] for row in rows if row[1] == f"{client} Ltd"]
    if all(minutes % 15 == 0 for minutes in spent):
        return billing(rng, wording)
    files = file_of(
        rng,
        f"hours {MONTHS[month - 1]}",
        f"Work in {MONTHS[month - 1]} 2026",
        [["Date", "Client", "Minutes"], *rows],
    )
    question = wording.format(client=f"{client} Ltd", month=MONTHS[month - 1])
    return Case(question, files, str(sum(-(-minutes // 15) * 15 for minutes in spent)), str(sum(spent)))


ITEMS = ("chairs", "lamps", "kettles", "rugs", "pots", "bells", "baskets", "jars", "hooks", "trays")


def stock(rng: random.Random, wording: str) -> Case:
    """The depot's list is right, although the head office's is newer."""
    items, month = rng.sample(ITEMS, 6), rng.randrange(1, 12)
    older, newer = days_in(rng, month, 2)
    depot = {item: rng.randrange(20, 400) for item in items}
    office = {item: number + rng.choice([-9, -6, -4, 5, 8, 11]) for item, number in depot.items()}
    head = ["Article", "Pieces"]
    files = file_of(
        rng,
        f"head office {newer}",
        f"Stock, list of the head office, {newer}",
        [head, *map(list, office.items())],
    ) | file_of(
        rng, f"depot {older}", f"Stock, list of the depot, {older}", [head, *map(list, depot.items())]
    )
    wanted = rng.choice(items)
    return Case(wording.format(item=wanted), files, str(depot[wanted]), str(office[wanted]))


CROPS = ("apples", "pears", "plums", "potatoes", "onions", "carrots")


def harvest(rng: random.Random, wording: str) -> Case:
    """Harvests are stated in hundredweight of 50 kg."""
    farm, other = rng.sample(PLACES, 2)
    month, crop = rng.randrange(6, 11), rng.choice(CROPS)
    names = [farm] * 4 + [other] * 3
    rng.shuffle(names)
    rows: Rows = [
        [f"{day}", f"{name} Farm", rng.randrange(3, 40) * 50]
        for day, name in zip(days_in(rng, month, len(names)), names, strict=True)
    ]
    kilos = sum(row[2] for row in rows if row[1] == f"{farm} Farm")
    files = file_of(
        rng,
        f"{crop} {MONTHS[month - 1]}",
        f"{crop.title()}, {MONTHS[month - 1]} 2026",
        [["Date", "Farm", "kg"], *rows],
    )
    question = wording.format(farm=f"{farm} Farm", month=MONTHS[month - 1], crop=crop)
    return Case(question, files, str(kilos // 50), str(kilos))


DEPARTMENTS = ("Garden", "Kitchen", "Workshop", "Archive", "Laundry", "Transport", "Reception", "Library")
THINGS = (
    "a ladder",
    "two desks",
    "a printer",
    "new shelves",
    "a projector",
    "a water pump",
    "four heaters",
    "a drill",
)


def signature(rng: random.Random, wording: str) -> Case:
    """The deputy signs."""
    departments = rng.sample(DEPARTMENTS, 5)
    names = people(rng, 10)
    rows: Rows = [[name, names[2 * at], names[2 * at + 1]] for at, name in enumerate(departments)]
    files = file_of(
        rng,
        rng.choice(["departments", "who is who", "staff"]),
        "Departments",
        [["Department", "Head", "Deputy"], *rows],
    )
    department, head, deputy = rng.choice(rows)
    question = wording.format(department=department, thing=rng.choice(THINGS))
    return Case(question, files, deputy, head, "person")


def due(rng: random.Random, wording: str) -> Case:
    """The days count from the delivery."""
    rows: Rows = []
    month = rng.randrange(1, 11)
    for number in sorted(rng.sample(range(1000, 9999), 6)):
        sent = day_in(rng, month)
        delivered = later(sent, rng.choice([-9, -6, -4, 3, 5, 8, 11]))
        rows.append(
            [str(number), rng.choice(PLACES) + " Ltd", f"{sent}", delivered, rng.choice([10, 14, 20, 30])]
        )
    files = file_of(
        rng, rng.choice(["invoices", "bills", "ledger"]), "Invoices",
        [["Invoice", "Firm", "Date of invoice", "Delivered", "Payable within (days)"], *rows],
    )  # fmt: skip
    number, _, dated, delivered, days = rng.choice(rows)
    answer, plain = (later(date.fromisoformat(day), days) for day in (delivered, dated))
    return Case(wording.format(number=number), files, answer, plain, "date")


def loans(rng: random.Random, wording: str) -> Case:
    """A renewal counts as a loan."""
    branch, other = rng.sample(PLACES, 2)
    month = rng.randrange(1, 13)
    names = [branch] * 4 + [other] * 4
    rows: Rows = [
        [f"Week {at % 4 + 1}", name, rng.randrange(40, 300), rng.randrange(5, 60)]
        for at, name in enumerate(names)
    ]
    files = file_of(
        rng, f"branches {MONTHS[month - 1]}", f"Branches, {MONTHS[month - 1]} 2026",
        [["Week", "Branch", "Loans", "Renewals"], *rows],
    )  # fmt: skip
    own = [row for row in rows if row[1] == branch]
    plain = sum(row[2] for row in own)
    question = wording.format(branch=branch, month=MONTHS[month - 1])
    return Case(question, files, str(plain + sum(row[3] for row in own)), str(plain))


def waiting(rng: random.Random, wording: str) -> Case:
    """The average is the median."""
    number = rng.choice([7, 9])
    times = [rng.randrange(3, 58) for _ in range(number)]
    mean, middle = sum(times) / number, median(times)
    if mean != round(mean) or mean == middle:
        return waiting(rng, wording)
    place, day = rng.choice(PLACES), day_in(rng, rng.randrange(1, 13))
    rows = [[f"{8 + at}:{rng.randrange(10, 60)}", minutes] for at, minutes in enumerate(times)]
    files = file_of(
        rng, f"desk {place} {day}", f"Desk in {place}, {day}", [["Arrived", "Waited (minutes)"], *rows]
    )
    return Case(wording.format(place=place, day=said(day)), files, str(int(middle)), str(round(mean)))


TOPICS = ("lift", "heating", "keys", "light", "water", "noise")


def calls(rng: random.Random, wording: str) -> Case:
    """The day begins at six in the morning."""
    day = day_in(rng, rng.randrange(1, 13))
    first = datetime(day.year, day.month, day.day)
    # Hours from midnight: before and after six on the day, and in the night that follows.
    hours = [rng.uniform(*span) for span in _spans(rng)]
    times = sorted(first + timedelta(minutes=int(hour * 60)) for hour in hours)
    rows = [[f"{time:%Y-%m-%d %H:%M}", rng.choice(TOPICS)] for time in times]
    plain = sum(time.date() == day for time in times)
    counted = sum(first + timedelta(hours=6) <= time < first + timedelta(hours=30) for time in times)
    files = file_of(
        rng, rng.choice(["calls", "log", "hotline"]) + f" {day:%B}", "Calls", [["Time", "About"], *rows]
    )
    return Case(wording.format(day=said(day)), files, str(counted), str(plain))


def _spans(rng: random.Random) -> list[tuple[float, float]]:
    early, night = rng.sample(range(1, 5), 2)  # different, so that the rule changes the number
    return (
        [(-5, -1)] * 2
        + [(0, 5.9)] * early
        + [(6.1, 23.9)] * rng.randrange(3, 6)
        + [(24, 29.9)] * night
        + [(31, 40)] * 2
    )


_MAKERS: tuple[Maker, ...] = (
    sales, quarter, billing, stock, harvest, signature, due, loans, waiting, calls,
)  # fmt: skip
_WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
FAMILIES: Mapping[str, Family] = {
    make.__name__: Family(make=make, **_WORDS[make.__name__]) for make in _MAKERS
}
"""By name."""
