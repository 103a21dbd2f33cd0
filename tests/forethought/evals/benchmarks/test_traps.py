"""Traps: every file says what decides its task, the answer follows from it, and the plain one differs."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from forethought.evals.benchmarks.traps.benchmark import BENCHMARK, same
from forethought.evals.registry import method
from forethought.evals.types import DataError, Sample
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.files import FileStore
from forethought.tools.read_file import READ_FILE
from tests.support.answers import score
from tests.support.evaluating import Bureau, Replies, done
from tests.support.replies import answer, diagnosis, finish, plan, sub

CLUES = {
    "footnote": "of the open day, who were counted by hand and belong to the year",
    "hidden_sheet": "Valid price",
    "cell_comment": "Counted in boxes of",
    "speaker_note": "was still the plan",
    "units": "| kg |",
    "subtotals": "| all | Q1 |",
    "resubmission": "the last answer counts",
    "void": "void (entered twice)",
    "exception": "nothing is taken off them",
    "later_version": "until then the version of 2025 holds",
    "correction_by_mail": "is withdrawn, the first figure holds",
    "deputy": "in the deputy's absence by the financial officer",
    "definition": "'Days' are working days",
    "bounds": "rounded up to whole euros",
    "time_zones": "Clocks on these days",
    "middle_of_a_long_text": "before this line are too low by",
}
Texts = dict[str, str]


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    """Two traps of each kind, and the others."""
    return BENCHMARK.samples(tmp_path, {})


async def texts_of(sample: Sample, settings: Settings, blobs: Path) -> Texts:
    """What read_file shows of each file, all parts."""
    store = FileStore(blobs)
    hashes = {path.name: store.put(path.read_bytes()) for path in sample.files}
    env = ToolEnv(settings, files=hashes, store=store)
    texts = {}
    for path in sample.files:
        parts, number, more = [], 1, True
        while more:
            seen = await READ_FILE.run(env, **READ_FILE.arguments(path=path.name, part=number).model_dump())
            assert isinstance(seen, Observation)
            parts.append(seen.text)
            number, more = number + 1, f"ask for part={number + 1}" in seen.text
        texts[path.name] = "\n".join(parts)
    return texts


def numbers(pattern: str, text: str) -> list[int]:
    """The numbers that the pattern's group finds."""
    return [int(found) for found in re.findall(pattern, text)]


def rows(sample: Sample, name: str) -> list[list[str]]:
    """The rows of a CSV file, without its header."""
    (path,) = [path for path in sample.files if path.name == name]
    return list(csv.reader(path.read_text().splitlines()))[1:]


def footnote(sample: Sample, texts: Texts) -> object:
    text = texts["visitors.docx"]
    return sum(numbers(r"\| (\d+)(?: \\?\*)? *\|", text)) + numbers(r"Without the (\d+)", text)[0]


def cell_comment(sample: Sample, texts: Texts) -> object:
    text = texts["stock.xlsx"]
    (size,), (cell,) = numbers(r"boxes of (\d+)", text), numbers(r"B(\d+): ", text)
    counts = numbers(r"\| (\d+) \|", text)
    return sum(counts) + (size - 1) * counts[cell - 2]


def units(sample: Sample, texts: Texts) -> object:
    grams = {"g": 1, "kg": 1000}
    return sum(round(float(weight) * grams[unit]) * int(n) for _, weight, unit, n in rows(sample, "load.csv"))


def subtotals(sample: Sample, texts: Texts) -> object:
    return sum(int(eur) for _, period, eur in rows(sample, "expenses.csv") if not period.startswith("Q"))


def resubmission(sample: Sample, texts: Texts) -> object:
    last = {name: vote for day, name, vote in rows(sample, "answers.csv") if day <= "2026-03-20"}
    return list(last.values()).count("yes")


def void(sample: Sample, texts: Texts) -> object:
    return sum(
        int(eur) for _, eur, remark in rows(sample, "invoices.csv") if not remark.startswith(("void", "see"))
    )


def definition(sample: Sample, texts: Texts) -> object:
    (start,), (count,) = numbers(r"on (\d+) March", sample.task), numbers(r"within (\d+) days", str(texts))
    days = (date(2026, 3, start) + timedelta(days=n) for n in range(1, 40))
    open_days = [day for day in days if day.weekday() < 5 and f"{day:%d %B}" not in texts["contract.md"]]
    return open_days[count - 1]


def middle_of_a_long_text(sample: Sample, texts: Texts) -> object:
    before, offset, after = re.split(r"too low by (\d+)", texts["readings.txt"])
    low, high = (numbers(r"sensor 7 reads (\d+)", part) for part in (before, after))
    return sum(low) + len(low) * int(offset) + sum(high)


SOLVERS: tuple[Callable[[Sample, Texts], object], ...] = (
    footnote, cell_comment, units, subtotals, resubmission, void, definition, middle_of_a_long_text,
)  # fmt: skip


async def test_what_decides_can_be_read_and_leads_to_the_answer(
    samples: list[Sample], tmp_path: Path, settings: Callable[..., Settings]
) -> None:
    solvers = {solver.__name__: solver for solver in SOLVERS}
    traps = [sample for sample in samples if sample.groups["class"] == "trap"]
    assert len(traps) == 32
    assert {sample.groups["kind"] for sample in traps} == set(CLUES)
    for sample in traps:
        texts, kind = await texts_of(sample, settings(), tmp_path / "blobs"), sample.groups["kind"]
        assert CLUES[kind] in " ".join(texts.values()).replace("\\", ""), sample.id
        if kind in solvers:
            assert str(solvers[kind](sample, texts)) == sample.target, sample.id


def test_the_plain_answer_is_always_wrong(tmp_path: Path) -> None:
    for seed in range(12):
        for sample in BENCHMARK.samples(tmp_path, {"seed": str(seed), "variants": "1"}):
            assert sample.data["wrong"] or sample.groups["class"] == "trivial"
            assert not same(sample.target, sample.data["wrong"]), (seed, sample.id)


def test_the_order_and_the_files_are_the_same_each_time(samples: list[Sample], tmp_path: Path) -> None:
    again = BENCHMARK.samples(tmp_path / "again", {})
    assert [sample.id for sample in again] == [sample.id for sample in samples]
    for one, other in zip(samples, again, strict=True):
        assert [path.read_bytes() for path in one.files] == [path.read_bytes() for path in other.files]


def test_options_choose(tmp_path: Path) -> None:
    def count(**options: str) -> int:
        return len(BENCHMARK.samples(tmp_path, options))

    assert count(variants="1") == 32
    assert count(variants="1", only="trap") == 16
    assert (count(only="trivial"), count(only="follow-up")) == (8, 8)
    with pytest.raises(DataError, match="option variants=x: give a whole number"):
        count(variants="x")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="name a folder to write to with --data"):
        BENCHMARK.samples(tmp_path / "file", {})


async def test_the_score_says_who_fell_into_the_trap(samples: list[Sample]) -> None:
    sample = samples[0]
    right, fell, other = [
        await score(BENCHMARK, sample, said) for said in (f"{sample.target}.", sample.data["wrong"], "")
    ]
    assert (right.values, right.label) == ({"right": 1.0}, "")
    assert (fell.values, fell.label) == ({"right": 0.0}, "plain_reading")
    assert (other.values, other.label) == ({"right": 0.0}, "")


@pytest.mark.parametrize("name", ["ours", "react", "self-refine"])
async def test_a_follow_up_shows_the_conversation_before_it(
    name: str, bureau: Bureau, samples: list[Sample]
) -> None:
    (sample,) = [sample for sample in samples if sample.id == "two_back-1"]
    replies = Replies(
        {
            "Plan": [plan(sub("s1"))],
            "PlanDiagnosis": [diagnosis()],
            "ToolChoice": [finish("It is known.")],
            "AnswerDraft": [answer(sample.target)],
            "ReactMove": [done(sample.target)],
            "DraftFeedback": [{"feedback": "right", "good": True}],
        }
    )
    out = await bureau.work(method(name), replies, task=sample.task, earlier=sample.earlier)
    assert (out.attempt.answer, out.attempt.status) == (sample.target, "answered")
    for seen in out.server.requests:
        for n, turn in enumerate(sample.earlier, 1):
            shown = f"Task: {turn.task}\nAnswer: {turn.answer}\n</earlier_task>"
            assert f'<earlier_task number="{n}">\n{shown}' in seen.last
