"""The scripted model of the held-out faults: the habit is planted, the prompt alone mends it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.planted_faults.held_out import LATEST, HeldOut
from benchmarks.planted_faults.model import LOW
from benchmarks.planted_faults.world import TOWNS
from forethought.evals.types import Sample
from tests.support.agent import kind_of
from tests.support.exchange import Answer, SeenRequest
from tests.support.replies import (
    Json,
    answer,
    call,
    check,
    checked,
    diagnosis,
    grant,
    granting,
    plan,
    revision,
    sub,
)

_ASKED = re.compile(r"What did a (.+?) cost at the market of (\w+) in (\d+), the fee included")
_ALL = re.compile(r"What do five pieces of (.+?) cost in (\d+), one from each of the five")
_ORDER = re.compile(r"Order one (.+?) at the market of (\w+)\. Answer")
_PAGE = re.compile(r"Prices of [^,\n]+, year (\d+)\.\n((?:\w+: \d+ euros\n?)+)")
_IN_EUROS = "turn the fee into euros (100 cents each), then add"
_REST = "read part 2 of the prices, then add the prices of all five towns"


@dataclass(frozen=True)
class Asked:
    """The facts of the task's words."""

    item: str
    town: str = ""
    year: str = ""
    orders: bool = False


@dataclass
class HeldOutModel:
    """A policy for tests.support.model_server.ModelServer."""

    habits: Mapping[str, HeldOut]
    """The mistake that it makes in each task, by the task's text."""

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        habit = next(habit for task, habit in self.habits.items() if task in seen.text)
        asked, kind = _asked(seen.text), kind_of(seen)
        if kind == "Plan":
            reply = plan(*_subtasks(seen, asked, _habit_left(habit, seen, asked)))
        elif kind == "PlanDiagnosis":
            reply = _diagnosis(seen, asked)
        elif kind == "PlanRevision":
            reply = revision(*_subtasks(seen, asked, None))
        elif kind == "ToolChoice":
            reply = _move(seen, asked)
        elif kind == "Grants":
            grants = [grant("order", item=[asked.item], town=[asked.town])] if asked.orders else []
            reply = granting(*grants)
        else:
            reply = _answer(seen, asked)
        fields = seen.schema["properties"] if seen.schema else reply
        return {key: value for key, value in reply.items() if key in fields}


def held_out(samples: Iterable[Sample]) -> HeldOutModel:
    """The model for these samples."""
    return HeldOutModel({sample.task: sample.data["fault"] for sample in samples})


def _asked(text: str) -> Asked:
    if found := _ORDER.search(text):
        return Asked(found[1], found[2], orders=True)
    if found := _ALL.search(text):
        return Asked(found[1], year=found[2])
    found = _ASKED.search(text)
    assert found
    return Asked(*found.groups())


def _habit_left(habit: HeldOut, seen: SeenRequest, asked: Asked) -> HeldOut | None:
    """The habit, unless the prompt holds the order that mends it."""
    orders = {"unit": _IN_EUROS, "period": _right_year(asked), "cut": _REST}
    return None if orders.get(habit, "\0") in seen.text else habit


def _right_year(asked: Asked) -> str:
    return f"read the prices of the year {asked.year}"


def _subtasks(seen: SeenRequest, asked: Asked, habit: HeldOut | None) -> list[Json]:
    """The plan with a habit's mistake in it, or the right one."""
    if asked.orders:
        town = TOWNS[0] if habit == "target" else asked.town
        return [sub("order", description=f"with order: buy one {asked.item} in {town}")]
    year = str(LATEST) if habit == "period" else asked.year
    with_calls = "- `calls`:" in seen.text or "`calls`: list of" in seen.text

    def reading(key: str, description: str, tool: str, **arguments: object) -> Json:
        planned = {"tool": tool, "arguments": arguments} if with_calls else None
        return sub(key, description=description, call=planned)

    page: Json = {"item": asked.item, "year": int(year), "part": 1}
    price = reading("price", f"with prices: read the prices of the year {year}", "prices", **page)
    if not asked.town:
        rest = _REST if _REST in seen.text else "with add: add the prices up"
        return [price, sub("sum", ["price"], description=rest)]
    fee = reading("fee", f"with fees: read the fee of {asked.town}", "fees", town=asked.town)
    if habit == "period":
        return [price, fee]
    how = "add the price and the fee" if habit == "unit" else _IN_EUROS
    return [price, fee, sub("sum", ["price", "fee"], description=f"with add: {how}")]


def _diagnosis(seen: SeenRequest, asked: Asked) -> Answer:
    """Find a plan against the task: another market, another year, cents added to euros."""
    to_come = seen.last.rsplit("# The plan to examine", 1)[-1]
    if asked.orders:
        wrong = f"in {asked.town}" not in to_come
    else:
        adds_cents = "with add" in to_come and asked.town and "100 cents" not in to_come
        years = {*re.findall(r"of the year (\d+)", to_come), *(year for year, _ in _PAGE.findall(seen.text))}
        wrong = bool(adds_cents) or asked.year not in years
    if not wrong:
        return diagnosis()
    return diagnosis("insufficient_constraint_verification", subtasks=_subtasks(seen, asked, None))


def _move(seen: SeenRequest, asked: Asked) -> Answer:
    """Follow the subtask's words, and no more."""
    own = seen.messages[1][1].split("<subtask ")[1].split("</subtask>")[0]
    if found := re.search(r"with order: buy one .+? in (\w+)", own):
        return call(tool="order", item=asked.item, town=found[1])
    if "with fees" in own:
        return call(tool="fees", town=asked.town)
    rows = _rows(seen.text)
    if _REST in own and len(rows) < len(TOWNS):
        return call(tool="prices", item=asked.item, year=int(asked.year), part=2, finishes=False)
    found = re.search(r"read the prices of the year (\d+)", own)
    if found and _IN_EUROS not in own:
        return call(tool="prices", item=asked.item, year=int(found[1]), part=1)
    fee = _fee(seen.text)
    in_euros = fee // 100 if _IN_EUROS in own else fee
    amounts = [rows[asked.town], in_euros] if asked.town else list(rows.values())
    return call(tool="add", amounts=amounts)


def _rows(text: str, year: str = "") -> dict[str, int]:
    """The prices shown, by town; of one year, or of all."""
    pages = [page for of, page in _PAGE.findall(text) if year in ("", of)]
    return {town: int(price) for page in pages for town, price in re.findall(r"(\w+): (\d+) euros", page)}


def _fee(text: str) -> int:
    found = re.findall(r"takes a fee of (\d+) cents", text)
    return int(found[-1]) if found else 0


def _flaws(seen: SeenRequest, asked: Asked) -> dict[str, str | None]:
    """The writer's checks: the work that would mend each, or None if it holds."""
    if asked.orders:
        placed = re.findall(r"Order \d+ of .+? at (\w+) is placed", seen.text)
        # No second order mends a wrong one.
        return {"the market of the order": None if placed == [asked.town] else ""}
    rows, sums = _rows(seen.text, asked.year), re.findall(r"The sum is (\d+)", seen.text)
    looked: dict[str, str | None] = {"the year of the prices": None if rows else _right_year(asked)}
    if not asked.town:
        looked["the prices of five towns"] = None if len(rows) == len(TOWNS) else _REST
    elif rows and sums:
        right = rows[asked.town] + _fee(seen.text) // 100
        looked["the unit of the sum"] = None if int(sums[-1]) == right else _IN_EUROS
    return looked


def _answer(seen: SeenRequest, asked: Asked) -> Answer:
    """The last sum or the order's number; without a sum, the writer adds the price and the fee itself."""
    found = re.findall(r"The sum is (\d+)|Order (\d+) of", seen.text)
    rows = _rows(seen.text)
    if found:
        text = found[-1][0] or found[-1][1]
    elif asked.town in rows:
        text = str((_rows(seen.text, asked.year) or rows)[asked.town] + _fee(seen.text) // 100)
    else:
        return answer("The work was not done.")
    steps = [int(n) for n in re.findall(r'<step number="(\d+)">', seen.text)]
    flaws = _flaws(seen, asked)
    works = [work for work in flaws.values() if work is not None]
    if seen.schema and "checks" in seen.schema["properties"]:
        checks = [check(about, "yes" if work is None else "no") for about, work in flaws.items()]
        return checked(text, *checks, work="; ".join(filter(None, works)), used=steps)
    if any(works):
        return answer(text, steps, score=LOW, evaluation="; ".join(works))
    return answer(text, steps)
