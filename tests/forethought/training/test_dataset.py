"""From the synthesizer's records to rows: scrubbed, without duplicates, no task on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.json_files import sha256
from forethought.redaction import scrubber
from forethought.settings import Settings
from forethought.training.dataset import export, load_dataset, row_of, same_tasks, split_by_task
from forethought.training.errors import TrainingError
from forethought.trajectories.questions import normalised
from tests.forethought.training.samples import record, write_records


def test_a_row_is_instruction_query_background_trajectory_and_the_reflection() -> None:
    row = row_of(record(1))
    assert [message.role for message in row.messages] == ["system", "user", "assistant"]
    system, user, assistant = (message.content for message in row.messages)
    assert "find the earliest mistake" in system.lower()
    order = [
        "Book a hotel in Oslo",
        "every booking needs a date",
        "step 1 [find]",
        "FAILED (input)",
        "Nothing was booked",
    ]
    places = [user.index(part) for part in order]
    assert places == sorted(places)
    assert assistant == record(1).reflection


def test_export_writes_both_sides_and_says_how(tmp_path: Path) -> None:
    records = [record(number) for number in range(10)]
    source = write_records(tmp_path / "r.jsonl", [*records, record(3, trajectory_id="t3.2")])
    summary = export([source], tmp_path / "data", str, held_out=0.3, seed=1)
    assert (summary.read, summary.duplicates) == (11, 1)
    assert summary.train + summary.held_out == 10
    assert summary.held_out >= 1
    data = load_dataset(tmp_path / "data")
    assert (len(data.train), len(data.held_out)) == (summary.train, summary.held_out)
    assert not {row.task for row in data.train} & {row.task for row in data.held_out}
    export([source], tmp_path / "again", str, held_out=0.3, seed=1)
    assert sha256(tmp_path / "again" / "train.jsonl") == data.sha256


def test_secrets_are_blotted_out_of_every_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "own-secret-9aK3xw7Lq0")
    foreign = "sk-proj-abcdefghijklmnopqrstuvwx"
    bad = record(
        0,
        task_id=f"of {foreign}",
        trajectory_id=foreign,
        background=f"key {foreign}",
        trajectory=f"step 1 [] get(own-secret-9aK3xw7Lq0): ok: Bearer {foreign}",
        reflection="Do not send own-secret-9aK3xw7Lq0.",
        answer="see https://me:passw0rd@host.example/x",
    )
    source = write_records(tmp_path / "r.jsonl", [bad, record(1)])
    summary = export([source], tmp_path / "data", scrubber(Settings()), held_out=0)
    text = (tmp_path / "data" / "train.jsonl").read_text()
    assert summary.scrubbed == 1
    assert not [part for part in ("own-secret", "sk-proj", "passw0rd") if part in text]
    assert text.count("[secret]") == 7


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
    ],
)
def test_what_has_the_shape_of_a_key_goes(text: str) -> None:
    assert scrubber(Settings())(f"a {text} b") == "a [secret] b"


def test_ordinary_text_stays() -> None:
    text = "The task-list at https://example.org/a:b@c says risk-averse agents ask-first. Bearer of news."
    assert scrubber(Settings())(text) == text


def test_like_reflections_on_different_tries_both_stay(tmp_path: Path) -> None:
    same = "The booking had no date. Ask for the date first, then book."
    told_twice = record(0, trajectory_id="x", reflection=same.upper())
    source = write_records(
        tmp_path / "r.jsonl", [record(0, reflection=same), record(1, reflection=same), told_twice]
    )
    summary = export([source], tmp_path / "data", str, held_out=0)
    assert (summary.train, summary.duplicates) == (2, 1)
    assert [row.trajectory_id for row in load_dataset(tmp_path / "data").train] == ["t0.1", "t1.1"]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=25),
    st.floats(0.01, 0.9),
    st.integers(0, 50),
)
def test_no_task_is_ever_on_both_sides(pairs: list[tuple[int, int]], share: float, seed: int) -> None:
    records = [record(0, task_id=f"i{one}", task=f"task {text}") for one, text in pairs]
    if len(set(same_tasks(records))) < 2:
        with pytest.raises(TrainingError, match="one task"):
            split_by_task(records, share, seed)
        return
    train, away = split_by_task(records, share, seed)
    assert train
    assert away
    assert len(train) + len(away) == len(records)
    assert not {one.task_id for one in train} & {one.task_id for one in away}
    assert not {normalised(one.task) for one in train} & {normalised(one.task) for one in away}
