"""What is imported when: the graph and `--help` load nothing that only some runs need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = (
    "unstructured", "trafilatura", "ddgs", "tavily", "torch", "spacy", "langchain_openai", "google.genai",
    "google.protobuf", "langchain_google_genai", "pydantic_monty", "openai", "pandas", "numpy", "pypdfium2",
    "mcp", "langchain_mcp_adapters", "sandlock", "inspect_ai", "matplotlib", "scipy", "markdownify", "bs4",
    "lxml", "openpyxl", "docx", "pptx", "xlrd",
)  # fmt: skip
LISTING = "import json, sys, time; print(json.dumps([sorted(sys.modules), time.process_time()]))"


def loaded_after(code: str) -> tuple[set[str], float]:
    """The modules that a fresh interpreter has loaded after `code`, and the CPU seconds it took."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LISTING}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded, seconds = json.loads(done.stdout.splitlines()[-1])
    return set(loaded), seconds


TOOLS = """from forethought.settings import Settings
from forethought.tools.registry import describe, toolbox
describe(toolbox(Settings()))
import forethought.graph.agent"""
COMMAND = "from forethought.app.main import run_cli\nassert run_cli({}) == 0"


@pytest.mark.parametrize(
    ("code", "seconds", "loads_graph"),
    [
        ("import forethought", 2, False),
        (COMMAND.format(["--help"]), 5, False),
        (COMMAND.format(["eval", "run", "--help"]), 5, False),
        (COMMAND.format(["view", "--help"]), 5, False),
        (COMMAND.format(["threads"]), 10, True),
        (TOOLS, 20, True),
        ("import forethought.evals.registry, forethought.evals.types", 20, True),
    ],
)
def test_no_heavy_import(code: str, seconds: float, loads_graph: bool) -> None:
    loaded, took = loaded_after(code)
    unwanted = HEAVY if loads_graph else (*HEAVY, "langgraph", "langchain_core", "starlette", "uvicorn")
    assert not [name for name in unwanted if name in loaded]
    assert took < seconds, "generous, for a slow machine"


EVERYDAY = """import email.message, io
from pathlib import Path
from forethought.tools.documents.formats import read_document, text_of
folder = Path("tests/tools/documents/made_elsewhere")
texts = {"a.txt": b"words", "a.md": b"# Words", "a.json": b"{}", "a.eml": b"Subject: Tea\\n\\nwords"}
names = [folder / f"{name}" for name in ("letter.docx", "talk.pptx", "letter.pdf", "book.xlsx", "book.csv",
         "letter.html")]
for name, data in [*texts.items(), *((path.name, path.read_bytes()) for path in names)]:
    assert read_document(data, name).text"""


def test_what_is_read_every_day_needs_nothing_heavy() -> None:
    loaded, took = loaded_after(EVERYDAY)
    heavy = {"unstructured", "nltk", "spacy", "llvmlite", "numba", "pandas", "trafilatura", "docx"}
    assert not loaded & heavy
    assert took < 10, "generous, for a slow machine"


def test_the_demo_answers_without_numpy() -> None:
    loaded, _ = loaded_after(COMMAND.format(["run", "--demo"]))
    assert not loaded & {"numpy", "pandas", "unstructured", "openpyxl", "bs4", "lxml"}


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
