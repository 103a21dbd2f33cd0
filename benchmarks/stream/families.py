"""The ten families: what their files hold, the house rule that no file states, and how a person corrects.

A maker draws a case of its family: the answer with the rule, and the plain answer without it, which differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

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
    corrections: tuple[str, str]
    """A person's words after the first wrong answer, and after a later one."""
    wordings: tuple[str, ...]
    make: Maker


def sales(rng: random.Random, wording: str) -> Case:
    """The canteen does not count."""
    place, month = rng.choice(PLACES), rng.randrange(1, 13)
    channels = [*rng.sample(["Web", "Phone", "Counter"] * 3, 7), *["Canteen"] * rng.randrange(2, 4)]
    rng.shuffle(channels)
    days = days_in(rng, month, len(channels))
    rows = [[f"{day}", channel, rng.randrange(12, 90) * 10] for day, channel in zip(days, channels, strict=True)]
    counted = sum(row[2] for row in rows if row[1] != "Canteen")
    files = file_of(
        rng, f"{place} {MONTHS[month - 1]}", f"{place}, {MONTHS[month - 1]} 2026", [["Date", "Channel", "Euros"], *rows]
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
        rng, f"{place} 2025", f"{place}, 2025", [["Month", "Number"], *map(list, zip(MONTHS, counts, strict=True))]
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
        rng, f"hours {MONTHS[month - 1]}", f"Work in {MONTHS[month - 1]} 2026", [["Date", "Client", "Minutes"], *rows]
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
        rng, f"head office {newer}", f"Stock, list of the head office, {newer}", [head, *map(list, office.items())]
    ) | file_of(rng, f"depot {older}", f"Stock, list of the depot, {older}", [head, *map(list, depot.items())])
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
THINGS = ("a ladder", "two desks", "a printer", "new shelves", "a projector", "a water pump", "four heaters", "a drill")


def signature(rng: random.Random, wording: str) -> Case:
    """The deputy signs."""
    departments = rng.sample(DEPARTMENTS, 5)
    names = people(rng, 10)
    rows: Rows = [[name, names[2 * at], names[2 * at + 1]] for at, name in enumerate(departments)]
    files = file_of(rng, rng.choice(["departments", "who is who", "staff"]), "Departments", [["Department", "Head", "Deputy"], *rows])
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
        rows.append([str(number), rng.choice(PLACES) + " Ltd", f"{sent}", delivered, rng.choice([10, 14, 20, 30])])
    files = file_of(
        rng, rng.choice(["invoices", "bills", "ledger"]), "Invoices",
        [["Invoice", "Firm", "Date of invoice", "Delivered", "Payable within (days)"], *rows],
    )  # fmt: skip
    number, _, dated, delivered, days = rng.choice(rows)
    answers = [later(datetime.fromisoformat(day).date(), days) for day in (delivered, dated)]
    return Case(wording.format(number=number), files, *answers, form="date")


def loans(rng: random.Random, wording: str) -> Case:
    """A renewal counts as a loan."""
    branch, other = rng.sample(PLACES, 2)
    month = rng.randrange(1, 13)
    names = [branch] * 4 + [other] * 4
    rows: Rows = [
        [f"Week {at % 4 + 1}", name, rng.randrange(40, 300), rng.randrange(5, 60)] for at, name in enumerate(names)
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
    files = file_of(rng, f"desk {place} {day}", f"Desk in {place}, {day}", [["Arrived", "Waited (minutes)"], *rows])
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
    files = file_of(rng, rng.choice(["calls", "log", "hotline"]) + f" {day:%B}", "Calls", [["Time", "About"], *rows])
    return Case(wording.format(day=said(day)), files, str(counted), str(plain))


def _spans(rng: random.Random) -> list[tuple[float, float]]:
    early, night = rng.sample(range(1, 5), 2)  # different, so that the rule changes the number
    return [(-5, -1)] * 2 + [(0, 5.9)] * early + [(6.1, 23.9)] * rng.randrange(3, 6) + [(24, 29.9)] * night + [(31, 40)] * 2


FAMILIES: Mapping[str, Family] = {
    "sales": Family(
        "definition",
        (
            "That is wrong: what the canteen sells never counts as sales.",
            "Still wrong: leave out every line of the channel Canteen when you add up sales, takings, turnover or revenue.",
        ),
        (
            "What were the sales of {place} in {month}?",
            "How high were the takings at {place} in {month}?",
            "Add up the turnover of {place} for {month}.",
            "{place}: what did we sell in {month}, in euros?",
            "Give me the total revenue of the shop in {place} for {month}.",
            "How much money did {place} make in {month} with its sales?",
        ),
        sales,
    ),
    "quarter": Family(
        "definition",
        (
            "That is wrong: our quarters begin in February, so the first quarter is February to April.",
            "Still wrong: the first quarter is February to April, the second May to July, the third August to October.",
        ),
        (
            "How many visitors did {place} have in the {quarter} quarter of 2025?",
            "Guests in {place}, {quarter} quarter of 2025: how many?",
            "How many people came to {place} in the {quarter} quarter of last year, 2025?",
            "Add up the numbers of {place} for the {quarter} quarter of 2025.",
            "What was the attendance at {place} in the {quarter} quarter 2025?",
            "I need the {quarter}-quarter figure for {place} (2025).",
        ),
        quarter,
    ),
    "billing": Family(
        "rounding",
        (
            "That is wrong: we bill every entry in full quarters of an hour, rounded up.",
            "Still wrong: round each entry of the work list up to the next 15 minutes before you add up what we bill.",
        ),
        (
            "How many minutes do we bill {client} for {month}?",
            "What time goes on the bill of {client} for {month}, in minutes?",
            "Billable minutes for {client} in {month}?",
            "We write the bill for {client}: how many minutes of work in {month} does it name?",
            "How much working time do we charge {client} for {month}? In minutes.",
            "Sum up the minutes that {client} has to pay for {month}.",
        ),
        billing,
    ),
    "stock": Family(
        "preferred source",
        (
            "That is wrong: for stock, trust the list of the depot, even if the list of the head office is newer.",
            "Still wrong: how many pieces we have in stock is always what the depot's list says, never the head office's.",
        ),
        (
            "How many {item} do we have in stock now?",
            "What is our present stock of {item}?",
            "How many {item} are left?",
            "A customer asks for {item}. How many do we have at the moment?",
            "Tell me the current number of {item} in stock.",
            "{item}: how many pieces have we got today?",
        ),
        stock,
    ),
    "harvest": Family(
        "unit",
        (
            "That is wrong: we state harvests in hundredweight, and a hundredweight is 50 kg.",
            "Still wrong: divide the kilograms of a harvest by 50, because all our harvest figures are in hundredweight.",
        ),
        (
            "How much did {farm} harvest in {month}?",
            "What was the harvest of {crop} at {farm} in {month}?",
            "How big was the crop of {farm} in {month}?",
            "{farm}, {month}: give me the total harvest of {crop}.",
            "Add up the {crop} that {farm} brought in during {month}.",
            "How large was the yield of {crop} at {farm} in {month}?",
        ),
        harvest,
    ),
    "signature": Family(
        "role",
        (
            "That is wrong: orders of a department are signed by its deputy, not by its head.",
            "Still wrong: whoever is the deputy of the department signs and approves what it buys.",
        ),
        (
            "The department {department} orders {thing}. Who signs?",
            "Who has to sign the order of the department {department} for {thing}?",
            "{department} wants to buy {thing}. Who approves that?",
            "Whose signature do I need if the department {department} buys {thing}?",
            "Who signs off the purchase of {thing} for {department}?",
            "I have an order for {thing} from the department {department}. Who must sign it?",
        ),
        signature,
    ),
    "due": Family(
        "definition",
        (
            "That is wrong: the days to pay count from the delivery, not from the date of the invoice.",
            "Still wrong: an invoice is due so many days after the day on which the goods were delivered.",
        ),
        (
            "When is invoice {number} due?",
            "By which day must we pay invoice {number}?",
            "What is the due date of invoice {number}?",
            "Until when do we have time to pay the invoice {number}?",
            "Invoice {number}: what is the last day for payment?",
            "On which date does the payment term of invoice {number} end?",
        ),
        due,
    ),
    "loans": Family(
        "definition",
        (
            "That is wrong: a renewal counts as a loan too.",
            "Still wrong: add the renewals to the loans of the branch, because we count both as loans.",
        ),
        (
            "How many loans did the branch {branch} have in {month}?",
            "What was the number of loans in {branch} in {month}?",
            "How often were books lent in {branch} in {month}?",
            "Loans of the library {branch} in {month}: how many?",
            "Give me the loans of {branch} for {month}.",
            "How many books did the library {branch} lend in {month}?",
        ),
        loans,
    ),
    "waiting": Family(
        "definition",
        (
            "That is wrong: by average waiting time we mean the median.",
            "Still wrong: sort the waiting times and take the middle one; that is our average waiting time.",
        ),
        (
            "What was the average waiting time in {place} on {day}, in minutes?",
            "How long did people wait on average in {place} on {day}?",
            "Average wait at the desk in {place} on {day}?",
            "On {day}, how many minutes did a visitor in {place} wait on average?",
            "Give me the average waiting time of the desk in {place} for {day}.",
            "How many minutes was the average wait in {place} on {day}?",
        ),
        waiting,
    ),
    "calls": Family(
        "definition",
        (
            "That is wrong: our day begins at 6 in the morning and ends at 6 the next morning.",
            "Still wrong: a call before 6 in the morning belongs to the day before.",
        ),
        (
            "How many calls came in on {day}?",
            "Count the calls of {day}.",
            "How often did people call us on {day}?",
            "{day}: how many calls were there?",
            "What was the number of calls on {day}?",
            "On {day}, how many times did the phone ring?",
        ),
        calls,
    ),
}
"""By name."""
