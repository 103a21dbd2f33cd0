"""Tasks outside all house rules; half of them use the same kinds of files as the families."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import pairwise

from benchmarks.stream.cases import MONTHS, PLACES, Case, Rows, day_in, days_in, file_of, later, people, said
from benchmarks.stream.families import CROPS, DEPARTMENTS, ITEMS, TOPICS

Maker = Callable[[random.Random], Case]


def order(rng: random.Random) -> Case:
    """The amount of one order of a shop."""
    month, place = rng.randrange(1, 13), rng.choice(PLACES)
    rows: Rows = [
        [str(number), f"{day}", rng.choice(["Web", "Phone", "Counter"]), rng.randrange(12, 90) * 10]
        for number, day in zip(rng.sample(range(2000, 9000), 8), days_in(rng, month, 8), strict=True)
    ]
    files = file_of(
        rng, f"orders {place}", f"Orders, {place}", [["Order", "Date", "Channel", "Euros"], *rows]
    )
    number, *_, amount = rng.choice(rows)
    return Case(f"What is the amount of order {number}?", files, str(amount))


def busiest(rng: random.Random) -> Case:
    """The month with the most visitors."""
    place, counts = rng.choice(PLACES), rng.sample(range(110, 980), 12)
    files = file_of(
        rng,
        f"{place} 2025",
        f"{place}, 2025",
        [["Month", "Number"], *map(list, zip(MONTHS, counts, strict=True))],
    )
    best = MONTHS[counts.index(max(counts))]
    return Case(f"In which month of 2025 did {place} have the most visitors?", files, best, form="word")


def entries(rng: random.Random) -> Case:
    """The number of days with work for a client."""
    client, other, month = *rng.sample(PLACES, 2), rng.randrange(1, 13)
    names = [client] * rng.randrange(3, 7) + [other] * 4
    rng.shuffle(names)
    days = days_in(rng, month, len(names))
    rows = [
        [f"{day}", f"{name} Ltd", rng.randrange(4, 28) * 5] for day, name in zip(days, names, strict=True)
    ]
    files = file_of(rng, f"work {MONTHS[month - 1]}", "Work", [["Date", "Client", "Minutes"], *rows])
    return Case(f"On how many days did we work for {client} Ltd?", files, str(names.count(client)))


def articles(rng: random.Random) -> Case:
    """The article with the highest price in a list."""
    items = rng.sample(ITEMS, 7)
    prices = rng.sample(range(12, 190), 7)
    files = file_of(
        rng,
        "price list",
        "Price list",
        [["Article", "Euros per piece"], *map(list, zip(items, prices, strict=True))],
    )
    return Case("Which article is the most expensive?", files, items[prices.index(max(prices))], form="word")


def field(rng: random.Random) -> Case:
    """The farm with the largest field."""
    farms, crop = rng.sample(PLACES, 5), rng.choice(CROPS)
    sizes = rng.sample(range(4, 60), 5)
    files = file_of(
        rng,
        "fields",
        "Fields",
        [["Farm", "Hectares", "Crop"], *([f, s, crop] for f, s in zip(farms, sizes, strict=True))],
    )
    return Case(
        f"Which farm has the largest field of {crop}?", files, farms[sizes.index(max(sizes))], form="word"
    )


def head(rng: random.Random) -> Case:
    """The head of a department."""
    names = people(rng, 10)
    rows: Rows = [
        [name, names[2 * at], names[2 * at + 1]] for at, name in enumerate(rng.sample(DEPARTMENTS, 5))
    ]
    files = file_of(rng, "departments", "Departments", [["Department", "Head", "Deputy"], *rows])
    department, chief, _ = rng.choice(rows)
    return Case(f"Who is the head of the department {department}?", files, chief, form="person")


def delivered(rng: random.Random) -> Case:
    """The day of a delivery."""
    rows: Rows = []
    for number in sorted(rng.sample(range(1000, 9999), 6)):
        sent = day_in(rng, 5)
        rows.append([str(number), f"{sent}", later(sent, rng.choice([-6, -4, 3, 8]))])
    files = file_of(rng, "deliveries", "Deliveries", [["Invoice", "Date of invoice", "Delivered"], *rows])
    number, _, day = rng.choice(rows)
    return Case(f"When were the goods of invoice {number} delivered?", files, day, form="date")


def members(rng: random.Random) -> Case:
    """The members of a library branch."""
    branches = rng.sample(PLACES, 5)
    rows: Rows = [[name, rng.randrange(200, 2_000), rng.randrange(3, 20)] for name in branches]
    files = file_of(rng, "branches", "Branches", [["Branch", "Members", "Staff"], *rows])
    name, number, _ = rng.choice(rows)
    return Case(f"How many members does the branch {name} have?", files, str(number))


def longest(rng: random.Random) -> Case:
    """The longest wait."""
    place, day, times = rng.choice(PLACES), day_in(rng, rng.randrange(1, 13)), rng.sample(range(3, 58), 8)
    rows = [[f"{8 + at}:{rng.randrange(10, 60)}", minutes] for at, minutes in enumerate(times)]
    files = file_of(rng, f"desk {place}", f"Desk in {place}, {day}", [["Arrived", "Waited (minutes)"], *rows])
    return Case(f"What was the longest wait in {place} on {said(day)}, in minutes?", files, str(max(times)))


def about(rng: random.Random) -> Case:
    """The calls about one topic."""
    day = day_in(rng, rng.randrange(1, 13))
    topics = [rng.choice(TOPICS) for _ in range(11)]
    rows = [[f"{day} {8 + at}:{rng.randrange(10, 60)}", topic] for at, topic in enumerate(topics)]
    files = file_of(rng, "calls", "Calls", [["Time", "About"], *rows])
    topic = rng.choice(topics)
    return Case(f"How many calls in the log were about {topic}?", files, str(topics.count(topic)))


def room(rng: random.Random) -> Case:
    """A booked room."""
    names, rooms = people(rng, 5), rng.sample(["Amber", "Birch", "Cedar", "Delta", "Ember", "Fern"], 5)
    rows = [[f"{9 + at}:00", name, place] for at, (name, place) in enumerate(zip(names, rooms, strict=True))]
    files = file_of(rng, "rooms", "Rooms", [["Time", "Person", "Room"], *rows])
    at = rng.randrange(5)
    return Case(f"Which room has {names[at]} booked?", files, rooms[at], form="word")


def marks(rng: random.Random) -> Case:
    """The points of a pupil."""
    names = people(rng, 4)
    rows: Rows = [[name, *(rng.randrange(3, 26) for _ in range(4))] for name in names]
    files = file_of(rng, "exam", "Exam", [["Name", "Part 1", "Part 2", "Part 3", "Part 4"], *rows])
    name, *points = rng.choice(rows)
    return Case(f"How many points did {name} reach in the exam?", files, str(sum(points)))


def warmest(rng: random.Random) -> Case:
    """The difference of two temperatures."""
    place, degrees = rng.choice(PLACES), rng.sample(range(4, 33), 7)
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    files = file_of(
        rng,
        f"weather {place}",
        f"Weather, {place}",
        [["Day", "Degrees"], *map(list, zip(days, degrees, strict=True))],
    )
    question = f"By how many degrees was the warmest day in {place} warmer than the coldest?"
    return Case(question, files, str(max(degrees) - min(degrees)))


def extension(rng: random.Random) -> Case:
    """A phone number."""
    rows: Rows = [
        [name, rng.choice(DEPARTMENTS), number]
        for name, number in zip(people(rng, 7), rng.sample(range(100, 999), 7), strict=True)
    ]
    files = file_of(rng, "phones", "Phones", [["Name", "Department", "Extension"], *rows])
    name, _, number = rng.choice(rows)
    return Case(f"What is the extension of {name}?", files, str(number))


def route(rng: random.Random) -> Case:
    """The length of a route."""
    stops, lengths = rng.sample(PLACES, 6), [rng.randrange(3, 48) for _ in range(5)]
    rows = [[*pair, length] for pair, length in zip(pairwise(stops), lengths, strict=True)]
    files = file_of(rng, "route", "Route", [["From", "To", "km"], *rows])
    return Case(
        f"How many kilometres is it from {stops[0]} to {stops[-1]} by this route?", files, str(sum(lengths))
    )


UNRELATED: Mapping[str, Maker] = {
    maker.__name__: maker
    for maker in (
        order, room, busiest, marks, entries, warmest, articles, extension, field, route,
        head, delivered, members, longest, about,
    )
}  # fmt: skip
"""By name. A run takes them in turn."""
