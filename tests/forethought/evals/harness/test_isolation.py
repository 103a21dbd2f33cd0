"""inspect is kept to the evaluation's folder, and leaves the process as it was."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from inspect_ai.util import display_type
from inspect_ai.util._display import init_display_type

from forethought.evals.harness.isolation import inspect_kept_to

NAMES = ("XDG_DATA_HOME", "INSPECT_DISPLAY", "INSPECT_TRACE_FILE")


def test_nothing_is_shown_though_a_display_was_chosen_before(tmp_path: Path) -> None:
    init_display_type("rich")
    with inspect_kept_to(tmp_path):
        assert display_type() == "none"


def test_the_process_is_left_as_it_was_after_an_error_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "plain")
    monkeypatch.delenv("INSPECT_TRACE_FILE", raising=False)
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    before = {name: os.environ.get(name) for name in NAMES}
    with pytest.raises(OSError, match="full"):
        _break_off_in(tmp_path)
    assert {name: os.environ.get(name) for name in NAMES} == before
    assert (root.level, root.handlers) == (level, handlers)


def _break_off_in(folder: Path) -> None:
    with inspect_kept_to(folder):
        assert os.environ["XDG_DATA_HOME"] == str(folder / ".inspect")
        logging.getLogger().setLevel(logging.DEBUG)
        logging.getLogger().addHandler(logging.NullHandler())
        raise OSError("the disk is full")
