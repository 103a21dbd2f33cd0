"""The command that installs an extra."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought import extras

CHECKOUT = Path(__file__).resolve().parents[2]


def test_in_the_checkout_the_command_installs_it_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    assert extras.install_command("evals") == "pip install -e '.[evals]'"


def test_elsewhere_it_names_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert extras.install_command("evals") == f"pip install -e '{CHECKOUT}[evals]'"


def test_without_a_checkout_the_name_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path)
    assert extras.install_command("evals") == "pip install 'forethought[evals]'"
