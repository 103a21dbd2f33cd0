"""Traps in rules: exceptions, later versions, deputies, definitions, bounds, time zones."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone

from forethought.evals.benchmarks.traps.exercise import GOODS, PEOPLE, TOWNS, Exercise, trap
from forethought.evals.benchmarks.traps.office import csv_file, mail, text_file, word_file


@trap
def void(rng: random.Random) -> Exercise:
    """Some invoices are void, or replaced by another one of the list."""
    numbers = [1_040 + at for at in range(9)]
    amounts = [rng.randrange(90, 1_400) for _ in numbers]
    notes = [""] * 9
    gone = rng.sample(range(8), 3)
    notes[gone[0]], notes[gone[1]] = "void", f"see {numbers[8]}"
    notes[gone[2]] = "void (entered twice)"
    notes[8] = f"replaces {numbers[gone[1]]}"
    rows = list(zip(numbers, amounts, notes, strict=True))
    return Exercise(
        "What is to be paid in euros for all invoices of the list that are valid?",
        str(sum(amount for at, amount in enumerate(amounts) if at not in gone)),
        str(sum(amounts)),
        {"invoices.csv": csv_file(("invoice", "eur", "remark"), rows)},
    )


@trap
def exception(rng: random.Random) -> Exercise:
    """A discount that does not hold for some of the articles."""
    goods = rng.sample(GOODS, 6)
    order = [(name, rng.randrange(2, 9), rng.randrange(2, 20) * 10) for name in goods]
    net = rng.sample(goods, 2)
    share = rng.choice((10, 20))
    terms = text_file(
        "# Terms of sale",
        "Delivery is free within the country.",
        f"From five articles in an order on, {share} per cent are taken off the prices.",
        f"Prices of {net[0]} and {net[1]} are net prices: nothing is taken off them.",
        "Payment is due within 30 days.",
    )
    total = sum(n * price for _, n, price in order)
    off = sum(n * price * share // 100 for name, n, price in order if name not in net)
    return Exercise(
        "What is to be paid for the order in euros, by the terms of sale?",
        str(total - off),
        str(total * (100 - share) // 100),
        {"order.csv": csv_file(("article", "pieces", "eur_a_piece"), order), "terms.md": terms},
    )


@trap
def later_version(rng: random.Random) -> Exercise:
    """Two versions of a rule, of which the trip's date chooses."""
    old, new = rng.randrange(24, 30), rng.randrange(31, 38)
    days, first = rng.randrange(4, 7), rng.randrange(29, 31)
    start = date(2026, 6, first)
    after = sum((start + timedelta(days=at)) >= date(2026, 7, 1) for at in range(days))
    name = rng.choice(PEOPLE)
    return Exercise(
        (f"What daily allowance in euros is {name} paid for the whole trip?"),
        str(after * new + (days - after) * old),
        str(days * new),
        {
            "allowance-2025.md": text_file(
                "# Daily allowance",
                f"A day of travel is paid with {old} euros.",
                "Valid from 1 January 2025.",
            ),
            "allowance-2026.md": text_file(
                "# Daily allowance (new version)",
                f"A day of travel is paid with {new} euros.",
                "Valid for days of travel from 1 July 2026 on; until then the version of 2025 holds.",
            ),
            "trip.txt": text_file(f"Traveller: {name}", f"First day: {start}", f"Days: {days}"),
        },
    )


@trap
def correction_by_mail(rng: random.Random) -> Exercise:
    """A later mail changes one line of the order, and takes back an earlier change."""
    towns = rng.sample(TOWNS, 4)
    seats = [rng.randrange(12, 60) for _ in towns]
    more, less = rng.randrange(3, 9), rng.randrange(2, 8)
    rows = "\n".join(f"{town}: {count} chairs" for town, count in zip(towns, seats, strict=True))
    who = rng.choice(PEOPLE)
    address = f"{who.split()[0].lower()}@example.org"

    def letter(day: int, subject: str, body: str) -> bytes:
        when = datetime(2026, 5, day, 9, 30, tzinfo=UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
        return mail(address, "orders@example.org", when, subject, body)

    return Exercise(
        "How many chairs are ordered in all, as the order stands after the last mail?",
        str(sum(seats) + more),
        str(sum(seats) + more - less),
        {
            "mail-1.eml": letter(4, "Order of chairs", f"Please deliver:\n{rows}\n\n{who}\n"),
            "mail-2.eml": letter(
                6,
                "Re: Order of chairs",
                f"{towns[0]} needs {more} more.\n{towns[1]} needs {less} fewer.\n\n{who}\n",
            ),
            "mail-3.eml": letter(
                9,
                "Re: Re: Order of chairs",
                f"The change for {towns[1]} is withdrawn, the first figure holds. "
                f"The other one stays.\n\n{who}\n",
            ),
        },
    )


@trap
def deputy(rng: random.Random) -> Exercise:
    """Whoever is to sign is absent, and so is the deputy."""
    head, second, third, other = rng.sample(PEOPLE, 4)
    day = date(2026, 4, rng.randrange(13, 17))
    absent = [(head, "2026-04-06", "2026-04-17"), (other, "2026-04-01", "2026-04-02")]
    absent.append((second, str(day), str(day)))
    rng.shuffle(absent)
    rules = word_file(
        "# Approval of purchases",
        "Purchases up to 500 euros need no approval.",
        "Purchases of more than 500 euros are approved by the head of the department; in the head's absence "
        "by the deputy, in the deputy's absence by the financial officer.",
        [("Office", "Name"), ("Head of department", head), ("Deputy", second), ("Financial officer", third)],
    )
    return Exercise(
        (
            f"Who approves a purchase of {rng.randrange(600, 4_000)} euros that is submitted on "
            f"{day:%d %B %Y}?"
        ),
        third,
        second,
        {"approval.docx": rules, "absences.csv": csv_file(("name", "from", "to"), absent)},
        "The name of one person.",
    )


@trap
def definition(rng: random.Random) -> Exercise:
    """A definition at the end of a contract says what its days are."""
    start = date(2026, 3, rng.choice((9, 10, 11, 12, 16, 17, 18, 19)))
    free = (date(2026, 3, 25), date(2026, 4, 3), date(2026, 4, 6))
    count = rng.randrange(8, 13)
    later = (start + timedelta(days=at) for at in range(1, 40))
    workdays = [day for day in later if day.weekday() < 5 and day not in free]
    contract = text_file(
        "# Contract of maintenance",
        "1. The contractor looks after the lifts of the building.",
        f"2. A fault is mended within {count} days of its report; the day of the report is not counted.",
        "3. For each day of delay the fee is reduced by one per cent.",
        "4. Both sides may end the contract with three months' notice.",
        "## Annex: definitions",
        "'Days' are working days: Monday to Friday, but for the contract's holidays.",
        "The contract's holidays in 2026: " + ", ".join(f"{day:%d %B}" for day in free) + ".",
    )
    return Exercise(
        (f"A fault was reported on {start:%d %B %Y}. By which day at the latest must it be mended?"),
        str(workdays[count - 1]),
        str(start + timedelta(days=count)),
        {"contract.md": contract},
        "A date as YYYY-MM-DD.",
    )


@trap
def bounds(rng: random.Random) -> Exercise:
    """Steps of a tariff whose bounds are met exactly, and rounding of each line."""
    step, low, high = rng.choice((20, 25, 50)), rng.randrange(130, 160), rng.randrange(100, 128)
    rows = [
        (town, step + extra) for town, extra in zip(rng.sample(TOWNS, 5), (0, -1, 1, -7, 12), strict=True)
    ]
    rng.shuffle(rows)
    tariff = text_file(
        "# Tariff for copies",
        f"Up to and including {step} copies a branch pays {low} cents a copy, with more than {step} copies "
        f"{high} cents for each of them.",
        "The amount of each branch is rounded up to whole euros.",
    )
    cost = sum(-(-n * (low if n <= step else high) // 100) for _, n in rows)
    plain = sum(n * (low if n < step else high) for _, n in rows) / 100
    return Exercise(
        "What do all branches together pay for their copies, in euros?",
        str(cost),
        (f"{plain:g}"),
        {"tariff.md": tariff, "copies.csv": csv_file(("branch", "copies"), rows)},
    )


@trap
def time_zones(rng: random.Random) -> Exercise:
    """Local times of two places."""
    (one, first), (two, second) = rng.sample(
        [("Lisbon", 1), ("Helsinki", 3), ("Dubai", 4), ("Karachi", 5), ("New York", -4)], 2
    )
    begin = datetime(
        2026, 6, 10, rng.randrange(6, 10), rng.choice((0, 15, 30)), tzinfo=timezone(timedelta(hours=first))
    )
    flight = timedelta(minutes=rng.randrange(8, 20) * 25)
    end = (begin + flight).astimezone(timezone(timedelta(hours=second)))
    plan = text_file(
        "# Flight plan",
        "| Event | Place | Local time |\n| --- | --- | --- |\n"
        f"| Departure | {one} | {begin:%d %B %Y %H:%M} |\n| Arrival | {two} | {end:%d %B %Y %H:%M} |",
        f"Clocks on these days: {one} UTC{first:+d}, {two} UTC{second:+d}.",
    )
    wrong = end.replace(tzinfo=None) - begin.replace(tzinfo=None)
    return Exercise(
        "How many minutes does the flight take?",
        str(int(flight.total_seconds() // 60)),
        str(int(wrong.total_seconds() // 60)),
        {"flight.md": plan},
    )


@trap
def middle_of_a_long_text(rng: random.Random) -> Exercise:
    """In the middle of a long log it is said that earlier readings are to be corrected."""
    when, lines, readings = datetime(2026, 2, 1, tzinfo=UTC), [], []
    turn, offset = rng.randrange(380, 520), rng.randrange(6, 15)
    for at in range(900):
        sensor, value = rng.randrange(1, 9), rng.randrange(200, 380)
        if sensor == 7:
            readings.append((at, value))
        lines.append(f"{when + timedelta(minutes=7 * at):%Y-%m-%d %H:%M} sensor {sensor} reads {value}")
        if at == turn:
            lines.append(
                f"{when + timedelta(minutes=7 * at + 3):%Y-%m-%d %H:%M} note: sensor 7 was adjusted; all its "
                f"readings before this line are too low by {offset}"
            )
    corrected = [value + (offset if at <= turn else 0) for at, value in readings]
    return Exercise(
        "What is the sum of all readings of sensor 7 in the log, each as it should have been?",
        str(sum(corrected)),
        str(sum(value for _, value in readings)),
        {"readings.txt": ("\n".join(lines) + "\n").encode()},
    )
