"""Questions over folders: each answer follows from the files, and no other file gives another one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path

import pytest

from forethought.evals.benchmarks.folders.answers import right
from forethought.evals.benchmarks.folders.benchmark import BENCHMARK, make, write_folder
from forethought.evals.benchmarks.folders.kinds import KINDS
from forethought.evals.benchmarks.folders.making import PLANS, Folder, Question
from forethought.evals.benchmarks.folders.writers import Document, write
from forethought.evals.types import DataError
from forethought.tools.documents.formats import read_document
from tests.support.answers import score

DAY = r"\d{1,2} \w+ \d{4}|\w+ \d{1,2}, \d{4}|\d\d\.\d\d\.\d{4}|\d{4}-\d\d-\d\d"
FORMS = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%d.%m.%Y", "%Y-%m-%d")
AMOUNT = r"€?(?:EUR )?\d[\d.,]*(?: €| EUR| euros)?"


def days(text: str) -> list[date]:
    """The dates in a text, whatever their form."""
    found = []
    for said in re.findall(DAY, text):
        for form in FORMS:
            try:
                found.append(datetime.strptime(said, form).date())
            except ValueError:
                continue
            break
    return found


def number(text: str) -> float:
    """An amount in either way of writing."""
    plain = re.sub(r"[^\d.,]", "", text).strip(".,")
    if re.search(r",\d\d$", plain):
        plain = plain.replace(".", "").replace(",", ".")
    return float(plain.replace(",", ""))


def said(document: Document) -> str:
    """All of its text."""
    return " ".join([document.title, *document.paragraphs])


def part(folder: Folder, kind: str) -> dict[str, Document]:
    """The documents of a kind, by name."""
    where = folder.world[kind]["folder"] + "/"
    return {name: document for name, document in folder.files.items() if name.startswith(where)}


def one(folder: Folder, question: Question) -> str:
    named = [
        [word for word in names if re.search(rf"\b{re.escape(word)}\b", question.text)]
        for names in (folder.world["things"], folder.world["places"])
    ]
    people = re.findall(r"(?:promise|did|with) ([A-Z]\w+ [A-Z]\w+)", question.text)
    (text,) = [
        said(doc)
        for doc in part(folder, "one").values()
        if all(word in (text := doc.paragraphs[0]) for words in (*named, people) for word in words[:1])
        and (
            not (month := re.search(r"in (\w+ 2026)\?", question.text))
            or f"{days(text)[0]:%B %Y}" == month[1]
        )
    ]
    if question.form == "person":
        (name,) = re.findall(r"(?:led by|inspector:) (\w+ \w+)|(\w+ \w+) of the testing office was", text)
        return "".join(name)
    if question.form == "date":
        (when,) = re.findall(rf"(?:returned|received) on ({DAY})|({DAY}): keys", text)
        return days("".join(when))[0].isoformat()
    amounts = re.findall(rf"(?:promised|agreed on|took,|lowered to|only) ({AMOUNT})", text)
    return f"{number(amounts[0]):.2f}"


def words(folder: Folder, question: Question) -> str:
    concepts = folder.world["words"]["concepts"]
    (concept,) = [
        pairs for pairs in concepts if pairs[0][1] in question.text and pairs[1][1] in question.text
    ]
    (place,) = [place for place in folder.world["places"] if place in question.text]
    month = re.search(r"\b(\w+ 2026)", question.text)
    assert month
    (text,) = [
        text
        for text in map(said, part(folder, "words").values())
        if place in text
        and any(word.lower() in text.lower() for word in concept[1])
        and f"{days(text)[0]:%B %Y}" == month[1]
    ]
    assert not any(pair[1].lower() in text.lower() for pair in concept), "it has the words of the question"
    return f"{number(re.findall(rf'(?:to be paid|amount due|please transfer): ({AMOUNT})', text)[0]):.2f}"


def latest(folder: Folder, question: Question) -> str:
    files = part(folder, "latest")
    (asked,) = days(question.text)
    party = re.search(r"(?:with|does|rent does) ([A-Z].*?)(?:, within| owe| get)", question.text)
    assert party
    (base,) = [
        doc
        for doc in map(said, files.values())
        if re.search(rf"(?:and|Tenant:|lecturer) {party[1]}[,.]", doc)
    ]
    no = re.search(r"no\. (\d+)", base)
    assert no
    related = [doc for doc in map(said, files.values()) if f"no. {no[1]}" in doc and doc != base]
    off = {days(doc)[-1] for doc in related if "takes effect" in doc or "it takes effect" in doc}
    terms = {date(2000, 1, 1): base.split("§3")[1].split("§4")[0]}
    for doc in related:
        if "signed by both sides" in doc and "§4" not in doc and days(doc)[-1] not in off:
            terms[days(doc)[-1]] = doc.split("signed by both sides on")[1]
    valid = max(start for start in terms if start <= asked)
    unit = folder.world["latest"]["values"][0]
    found = re.findall(
        rf"({AMOUNT}) {unit}" if unit != "euros" else r"€[\d.,]+|EUR [\d.,]+|\d[\d.,]*\d (?:€|EUR|euros)",
        terms[valid],
    )
    return f"{number(found[0]):.0f}"


def sources(folder: Folder, question: Question) -> str:
    (rule,) = [said(doc) for name, doc in folder.files.items() if name.startswith("rules/")]
    (place,) = [place for place in folder.world["places"] if place in question.text]
    (thing,) = [thing for thing in folder.world["things"] if re.search(rf"\b{thing}\b", question.text)]
    month = re.search(r"\b(\w+ 2026)", question.text)
    assert month
    there = [doc for doc in part(folder, "sources").values() if month[1] in doc.title]
    (register,) = [row[2] for doc in there for row in doc.rows if row[:2] == (place, thing)]
    (sheet,) = [doc for doc in there if doc.title.startswith(place) and doc.rows]
    (mail,) = [doc for doc in there if doc.title.startswith(place) and not doc.rows]
    (counted,) = [row[1] for row in sheet.rows if row[0] == thing]
    signed = not re.search(r"missing|alone|no witness|left empty|nobody|only", said(sheet))
    if "5th" not in rule:
        return str(counted if signed else register)
    (value,) = re.findall(r"(?:have|showed|shows|were) (\d+)", said(mail))
    return value if mail.day.day > 5 else str(register)


SOLVERS: Mapping[str, Callable[[Folder, Question], str]] = {
    "one": one, "words": words, "latest": latest, "sources": sources,
}  # fmt: skip


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.parametrize("plan", PLANS[:6], ids=lambda plan: plan.name)
def test_the_answer_follows_from_the_files_and_from_nothing_else(plan, seed) -> None:  # type: ignore[no-untyped-def]
    folder = make(plan, seed)
    assert len(folder.files) == plan.files
    for question in folder.questions:
        if question.kind in SOLVERS:
            assert SOLVERS[question.kind](folder, question) == question.answer, question


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_the_files_of_a_judgment_are_hits_and_others(plan) -> None:  # type: ignore[no-untyped-def]
    folder = make(plan, "0", filled=False)
    question = next(question for question in folder.questions if question.kind == "each")
    where = re.search(r"folder (\S+/\d{4}-\d\d)\)", question.text)
    assert where
    texts = [said(doc) for name, doc in folder.files.items() if name.startswith(where[1])]
    assert len(texts) == plan.scope
    assert len(set(texts)) == plan.scope, "no two people write the same"
    count = float(question.answer)
    assert (count > plan.scope) if plan.summed else (0.15 * plan.scope < count < 0.5 * plan.scope)


def test_there_are_eight_questions_of_each_kind_and_none_is_written_before_it_is_asked(
    tmp_path: Path,
) -> None:
    samples = BENCHMARK.samples(tmp_path, {})
    assert Counter(sample.groups["kind"] for sample in samples) == dict.fromkeys(KINDS, 8)
    assert len({sample.task for sample in samples}) == 40
    assert not list(tmp_path.iterdir())
    other = BENCHMARK.samples(tmp_path, {"seed": "1", "kind": "one"})
    assert not {sample.target for sample in other} & {sample.target for sample in samples}
    assert [s.id for s in BENCHMARK.samples(tmp_path, {"questions": "2", "folder": "lifts-1"})] == [
        "lifts-1-each", "lifts-1-one",
    ]  # fmt: skip
    with pytest.raises(DataError, match="whole number"):
        BENCHMARK.samples(tmp_path, {"questions": "x"})


def test_a_folder_is_written_once_with_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_folder(tmp_path / name / "shop-1", PLANS[0], "0")
    files = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert len(files) == PLANS[0].files
    for path in files:
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()
    files[0].unlink()
    write_folder(tmp_path / "a/shop-1", PLANS[0], "0")
    assert not files[0].exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="name a folder to write to with --data"):
        write_folder(tmp_path / "file" / "shop-1", PLANS[0], "0")


@pytest.mark.parametrize("suffix", ["docx", "pdf", "eml", "xlsx", "csv", "md", "txt"])
def test_every_format_can_be_read(suffix: str) -> None:
    document = Document("Stock & more", ["Ten <chairs> at €5."], [("item", "pieces"), ("chair", 10)])
    text = read_document(write(suffix, document), f"stock.{suffix}").text
    assert "chair" in text
    assert "10" in text
    assert suffix == "csv" or "chairs> at" in text.replace("\\", "")


@pytest.mark.parametrize(
    ("answer", "wanted", "form", "ok"),
    [
        ("1284.50", "1284.50", "number", True),
        ("EUR 1,284.50", "1284.50", "number", True),
        ("1.284,50 €", "1284.50", "number", True),
        ("It is 1 284,50 euros.", "1284.50", "number", True),
        ("1.284", "1284", "number", True),
        ("**27** days", "27", "number", True),
        ("1284.05", "1284.50", "number", False),
        ("27 or 28", "27", "number", False),
        ("none", "27", "number", False),
        ("2026-03-04", "2026-03-04", "date", True),
        ("Wednesday, 4th of March 2026.", "2026-03-04", "date", True),
        ("March 4, 2026", "2026-03-04", "date", True),
        ("04.03.2026", "2026-03-04", "date", True),
        ("5 March 2026", "2026-03-04", "date", False),
        ("", "2026-03-04", "date", False),
        ("Weber, Zoe", "Zoe Weber", "person", True),
        ("Ms Zoe Weber.", "Zoe Weber", "person", True),
        ("Zoe Weber or Bo Byrne", "Zoe Weber", "person", False),
        ("Weber", "Zoe Weber", "person", False),
    ],
)
def test_answers_are_compared_exactly_in_any_form(answer: str, wanted: str, form: str, ok: bool) -> None:
    assert right(answer, wanted, form) is ok


async def test_the_score_is_one_or_zero(tmp_path: Path) -> None:
    sample = BENCHMARK.samples(tmp_path, {})[0]
    assert (await score(BENCHMARK, sample, f"{sample.target}.")).values == {"right": 1.0}
    assert (await score(BENCHMARK, sample, "no idea")).values == {"right": 0.0}
