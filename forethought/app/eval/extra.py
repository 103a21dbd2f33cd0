"""The extra that evaluations need."""

from __future__ import annotations

from importlib.util import find_spec

from forethought.app.errors import CliError


def need_evals() -> None:
    """Raises CliError when the extra is not installed."""
    if find_spec("inspect_ai") is None:
        raise CliError("evaluations need inspect: pip install 'forethought[evals]'")
