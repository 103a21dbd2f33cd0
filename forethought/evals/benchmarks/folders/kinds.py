"""The five kinds of questions. Each makes the documents that decide, and returns how to fill the folder.

A filler makes documents of the same shape that change no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from itertools import product
from typing import Any

from forethought.evals.benchmarks.folders import phrases
from forethought.evals.benchmarks.folders.making import MONTHS, Folder, Values, month_after, named
from forethought.evals.benchmarks.folders.writers import Document

Filler = Callable[[int], None]
"""Adds as many files, or somewhat fewer if the kind has no more."""
KINDS: dict[str, Callable[[Folder], Filler]] = {}
_DECIDED = 4
"""Documents of each sort that share a name, place or month with the deciding one."""


def kind(make: Callable[[Folder], Filler]) -> Callable[[Folder], Filler]:
    """Register a kind under the name of its function."""
    KINDS[make.__name__] = make
    return make


@kind
def each(folder: Folder) -> Filler:
    """A judgment on each file of a month, counted or summed: many files only seem to be hits."""
    month = folder.rng.choice(MONTHS)
    labels = folder.rng.choices(("hit", "near", "other"), (3, 3, 4), k=folder.plan.scope)
    made = [(label, _voice(folder, month, label)) for label in labels]
    hits = [amount for label, amount in made if label == "hit"]
    question = folder.world["each"]["sum" if folder.plan.summed else "count"]
    answer = f"{sum(hits):.2f}" if folder.plan.summed else str(len(hits))
    folder.ask("each", question, {"month": named(month), "folder": f"{month:%Y-%m}"}, answer)
    others = [other for other in MONTHS if other != month]

    def fill(count: int) -> None:
        for _ in range(count):
            _voice(folder, folder.rng.choice(others), folder.rng.choice(("hit", "near", "other")))

    return fill


def _voice(folder: Folder, month: date, label: str) -> float:
    """Add a text of a person. Returns the amount that it names."""
    part, rng, amount = folder.world["each"], folder.rng, folder.amount()
    when = folder.date_in(month)
    later = date(2026, month.month + 3, 1)
    values = folder.values(
        date=phrases.day(rng, when - timedelta(days=rng.randrange(5, 40))),
        later=f"{later:%B}",
        **folder.prices("each", amount),
    )
    around = [folder.text(part[name], values) for name in ("price", "amount")]
    around += [folder.text(filler, values) for filler in rng.sample(part["filler"], rng.randrange(3))]
    rng.shuffle(around)
    cut = rng.randrange(len(around) + 1)
    body = [*around[:cut], folder.text(part[label], values), *around[cut:]]
    half = rng.randrange(1, len(body) + 1)
    paragraphs = [folder.text(part["opening"], values), " ".join(body[:half]), " ".join(body[half:])]
    folder.add("each", [*filter(None, paragraphs), folder.text(part["closing"], values)], values, when)
    return amount


@kind
def one(folder: Folder) -> Filler:
    """One file answers; others name the same person, thing or place."""
    part, rng, used = folder.world["one"], folder.rng, set[tuple[str, ...]]()

    def note(month: date, **known: str) -> tuple[Values, date, float]:
        """Add a note that no other one shares both a person and a thing with."""
        while True:
            values = folder.values(**known)
            keys = {(values["person"], values["thing"]), (values["place"], values["thing"], str(month))}
            if not keys & used:
                break
            month = rng.choice(MONTHS)
        used.update(keys)
        when, amount = folder.date_in(month), folder.amount()
        others = {"otherdate": phrases.day(rng, when - timedelta(days=rng.randrange(1, 9)))}
        prices = folder.prices("one", amount)
        values |= {"date": phrases.day(rng, when), **prices, **others}
        folder.add("one", [folder.text(text, values) for text in part["text"]], values, when)
        return values, when, amount

    def any_month() -> date:
        return rng.choice(MONTHS)

    values, when, amount = note(any_month())
    for _ in range(_DECIDED):
        note(any_month(), person=values["person"])
        note(any_month(), place=values["place"], thing=values["thing"])
        note(when.replace(day=1), thing=values["thing"])
    answer = {"amount": f"{amount:.2f}", "date": when.isoformat(), "person": values["person"]}[part["answer"]]
    form = part["answer"].replace("amount", "number")
    folder.ask("one", part["question"], {**values, "month": named(when)}, answer, form)

    def fill(count: int) -> None:
        for _ in range(count):
            note(any_month())

    return fill


@kind
def words(folder: Folder) -> Filler:
    """One file answers, in other words than the question's and with dates and amounts in other forms."""
    part, rng, used = folder.world["words"], folder.rng, set[tuple[str, ...]]()
    concepts: list[list[list[str]]] = part["concepts"]

    def bill(month: date, concept: int, place: str, first: bool = False) -> float | None:
        """Add a bill, unless there is one for the same work, place and month; its amount."""
        if (key := (str(month), str(concept), place)) in used:
            return None
        used.add(key)
        trade, job = (pair[0] if first else rng.choice(pair) for pair in concepts[concept])
        when, amount = folder.date_in(month), folder.amount()
        dated = {"date": phrases.day(rng, when), **folder.prices("words", amount)}
        values = folder.values(place=place, trade=trade, job=job, **dated)
        folder.add("words", [folder.text(text, values) for text in part["text"]], values, when)
        return amount

    month, concept = rng.choice(MONTHS), rng.randrange(len(concepts))
    place = rng.choice(folder.world["places"])
    amount = bill(month, concept, place, first=True)
    for _ in range(_DECIDED):
        bill(month, rng.randrange(len(concepts)), place)
        bill(rng.choice(MONTHS), concept, place)
        bill(month, concept, rng.choice(folder.world["places"]))
    trade, job = (pair[1] for pair in concepts[concept])
    asked = {"trade": trade, "job": job, "place": place, "month": named(month)}
    folder.ask("words", part["question"], asked, f"{amount:.2f}")

    def fill(count: int) -> None:
        free = list(product(MONTHS, range(len(concepts)), folder.world["places"]))
        rng.shuffle(free)
        made = (bill(*key) is not None for key in free)
        while count > 0 and (added := next(made, None)) is not None:
            count -= added

    return fill


@kind
def latest(folder: Folder) -> Filler:
    """An agreement and its amendments: the last signed one that applies on the day counts."""
    question, rng, used = folder.world["latest"]["question"], folder.rng, set[str]()
    twists = (["change", "other"], ["other", "change", "change"], ["change", "change", "cancel"])
    made = _agreement(folder, used, [*rng.choice(twists), "draft", "change"])
    called_off = {start for step, _, start, _ in made if step == "cancel"}
    _, values, asked, _ = next(item for item in made if item[0] == "draft")
    valid = [item for item in made if item[0] in ("base", "change") and item[2] not in called_off]
    number = max((start, number) for _, _, start, number in valid if start <= asked)[1]
    asked += timedelta(days=0 if "begins" in question else rng.randrange(28))
    folder.ask("latest", question, {**values, "date": phrases.day(rng, asked)}, str(number))

    def fill(count: int) -> None:
        before = len(folder.files)
        while len(folder.files) - before < count - _DECIDED:
            steps = [rng.choice(("change", "other", "draft")) for _ in range(rng.randrange(_DECIDED))]
            _agreement(folder, used, steps)

    return fill


def _agreement(folder: Folder, used: set[str], steps: list[str]) -> list[tuple[str, Values, date, int]]:
    """Add an agreement with a party that is not in `used`, and a document for each of `steps`.

    Returns of each its step, values, start and number.
    """
    part, rng = folder.world["latest"], folder.rng
    party, (unit, low, high) = folder.text(part["parties"], {}), part["values"]
    while any(party in other or other in party for other in used):
        party = folder.text(part["parties"], {})
    used.add(party)
    shared, start, made = folder.values(party=party), date(2024, rng.randrange(1, 12), 1), []
    for step, number in zip(["base", *steps], rng.sample(range(low, high), len(steps) + 1), strict=True):
        if step not in ("base", "cancel"):
            start = month_after(start, rng.randrange(2, 6))
        signed = start - timedelta(days=rng.randrange(2, 15) if step == "cancel" else rng.randrange(20, 58))
        worded = phrases.euros(rng, number) if unit == "euros" else f"{number} {unit}"
        dated = {"date": phrases.day(rng, signed), "start": phrases.day(rng, start)}
        values = {**shared, **dated, "value": worded}
        folder.add(
            "latest",
            [folder.text(text, values) for text in part[step]],
            values,
            signed,
            suffix={"base": "docx", "cancel": "eml"}.get(step) or rng.choice(("pdf", "docx")),
            name="agreement-{no}" if step == "base" else rng.choice(("{no}-{day}", "{day}-{n}")),
            title=f"{'Re: agreement' if step == 'cancel' else 'Agreement'} no. {values['no']}",
        )
        made.append((step, values, start, number))
    return made


@kind
def sources(folder: Folder) -> Filler:
    """Register, sheet and mail differ; a rule in the folder says which one counts."""
    part, rng, made = folder.world["sources"], folder.rng, _Sources(folder)
    rule, applies = rng.choice(("signed", "late")), rng.random() < 0.5
    month, place, thing = (rng.choice(each) for each in made.axes)
    register = made.truth[month, place, thing]
    sheet, mail = (register + shift for shift in rng.sample((-9, -6, -4, -2, 3, 5, 7, 12), 2))
    path = part["rule"].format(suffix=folder.suffix(rng.choice(("docx", "md", "pdf"))))
    folder.files[path] = Document("How we count", [folder.text(text, {}) for text in part["rules"][rule]])
    for when in MONTHS:
        made.add_register(when)
    made.add_sheet(month, place, {thing: sheet}, two=applies or rule == "late")
    made.add_mail(month, place, thing, mail, late=applies or rule == "signed")
    counts = {"signed": sheet, "late": mail}[rule] if applies else register
    named_so = {"place": place, "thing": thing, "month": named(month)}
    folder.ask("sources", part["question"], named_so, str(counts))

    def fill(count: int) -> None:
        free = [key for key in product(*made.axes[:2]) if key != (month, place)]
        rng.shuffle(free)
        for when, where in free[: count // 2]:
            one, other = rng.sample(made.axes[2], 2)
            changed = {one: made.truth[when, where, one] + rng.randrange(1, 9)}
            made.add_sheet(when, where, changed, two=rng.random() < 0.6)
            value = made.truth[when, where, other] - rng.randrange(1, 9)
            made.add_mail(when, where, other, value, late=rng.random() < 0.5)

    return fill


class _Sources:
    """The registers, sheets and mails of a folder."""

    def __init__(self, folder: Folder) -> None:
        self.folder, self.part = folder, folder.world["sources"]
        self.axes: tuple[Any, Any, Any] = (MONTHS, folder.world["places"], folder.world["things"])
        self.truth = {key: folder.rng.randrange(20, 900) for key in product(*self.axes)}
        """The registers' numbers by month, place and thing."""

    def add_register(self, month: date) -> None:
        """Add the register of a month."""
        rows = [(*key[1:], number) for key, number in self.truth.items() if key[0] == month]
        title = f"{self.part['register']}, {named(month)}"
        self._add(0, [], {}, month, title, ("xlsx", "csv"), rows=[self.part["columns"], *rows])

    def add_sheet(self, month: date, place: str, changed: Mapping[str, int], two: bool) -> None:
        """Add a sheet of one place, signed by two people or by one."""
        signed = self.folder.text(self.part["two" if two else "single"], {})
        values = {"place": place, "month": named(month), "signed": signed}
        rows = [(item, changed.get(item, self.truth[month, place, item])) for item in self.axes[2]]
        title, columns = f"{place}, {named(month)}", self.part["columns"][1:]
        formats = ("docx", "pdf", "txt", "xlsx")
        self._add(1, [self.part["sheet"]], values, month, title, formats, rows=[columns, *rows])

    def add_mail(self, month: date, place: str, thing: str, value: int, late: bool) -> None:
        """Add a mail about one thing, sent before or after the closing day."""
        days = self.folder.rng.randrange(7, 12) if late else self.folder.rng.randrange(3)
        values = {"place": place, "thing": thing, "month": named(month), "value": str(value)}
        sent = month_after(month, 1) + timedelta(days=days)
        self._add(2, [self.part["mail"]], values, month, f"{place}, {named(month)}", ("eml",), sent=sent)

    def _add(
        self,
        which: int,
        texts: list[str],
        known: Values,
        month: date,
        title: str,
        formats: tuple[str, ...],
        **more: Any,
    ) -> None:
        values, name = self.folder.values(**known), self.part["names"][which]
        suffix, said = self.folder.rng.choice(formats), [self.folder.text(text, values) for text in texts]
        self.folder.add("sources", said, values, month, suffix=suffix, name=name, title=title, **more)
