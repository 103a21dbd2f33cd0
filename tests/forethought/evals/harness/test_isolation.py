"""inspect is confined to the evaluation's folder, and leaves the process as it was."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from inspect_ai.util import display_type
from inspect_ai.util._display import init_display_type

from forethought.evals.harness.isolation import inspect_kept_to

NAMES = ("XDG_DATA_HOME", "INSPECT_DISPLAY", "INSPECT_TRACE_FILE")


@pytest.fixture
def rich() -> Iterator[None]:
    """Have inspect's display chosen before, in this process."""
    before = display_type()
    init_display_type("rich")
    yield
    init_display_type(before)


@pytest.mark.usefixtures("rich")
def test_the_process_is_left_as_it_was_after_an_error(tmp_path: Path) -> None:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    before = {name: os.environ.get(name) for name in NAMES}
    with suppress(OSError), inspect_kept_to(tmp_path):
        assert display_type() == "none"
        assert os.environ["XDG_DATA_HOME"] == str(tmp_path / ".inspect")
        root.setLevel(logging.DEBUG)
        root.addHandler(logging.NullHandler())
        raise OSError("the disk is full")
    assert {name: os.environ.get(name) for name in NAMES} == before
    assert (root.level, root.handlers) == (level, handlers)
    assert display_type() == "rich"
