"""What is imported when: the graph and `--help` load nothing that only some runs need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = (
    "unstructured", "trafilatura", "ddgs", "tavily", "torch", "spacy", "langchain_openai", "google.genai",
    "google.protobuf", "langchain_google_genai", "pydantic_monty", "openai", "pandas", "numpy", "pypdfium2",
    "mcp", "langchain_mcp_adapters", "sandlock", "inspect_ai", "matplotlib", "scipy",
)  # fmt: skip
LISTING = "import json, sys; print(json.dumps(sorted(sys.modules)))"


def loaded_after(code: str) -> tuple[set[str], float]:
    """The modules that a fresh interpreter has loaded after `code`, and the seconds it took."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LISTING}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(json.loads(done.stdout.splitlines()[-1])), time.monotonic() - started


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        ("import forethought.graph.agent", 20),
        ("from forethought.app.main import run_cli\nassert run_cli(['--help']) == 0", 5),
        ("from forethought.app.main import run_cli\nassert run_cli(['threads']) == 0", 10),
        ("import forethought", 2),
        ("import forethought.evals.registry, forethought.evals.types", 20),
        ("from forethought.app.main import run_cli\nassert run_cli(['eval', 'run', '--help']) == 0", 5),
    ],
)
def test_no_heavy_import(code: str, seconds: float) -> None:
    loaded, took = loaded_after(code)
    heavy = [name for name in HEAVY if name in loaded]
    assert not heavy
    assert took < seconds, "generous, for a slow machine"


def test_help_and_the_bare_package_do_not_even_load_the_graph() -> None:
    for code in ("import forethought", "from forethought.app.main import run_cli\nrun_cli(['--help'])"):
        loaded, _ = loaded_after(code)
        assert not {"langgraph", "langchain_core", "pydantic"} & loaded, code


def test_the_public_names_are_there() -> None:
    code = (
        "import forethought\nfrom forethought import Context, Settings, Tool, build_agent, make_tool, tool\n"
        "assert set(forethought.__all__) <= set(dir(forethought))\n"
        "assert Context().model_for('tool') and callable(build_agent)\n"
        "try:\n    forethought.nothing\nexcept AttributeError as error:\n    assert 'nothing' in str(error)\n"
        "else:\n    raise AssertionError"
    )
    loaded, _ = loaded_after(code)  # which fails where the code does
    assert "forethought.graph.agent" in loaded
