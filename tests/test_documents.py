"""The documents: their links and examples are true, and together they are short."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import forethought
from docs.write_reference import PAGES as WRITTEN
from docs.write_reference import stale
from tests.support.pages import ROOT, examples, fences, links, pages, tokens

MOST_WORDS = 19_300
"""Of all documents together."""
MOST_LINES = 150
"""Of README.md."""


# --- Links and sizes ----------------------------------------------------------------------------------------


@cache
def anchors(page: str) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    found: list[str] = []
    for at, token in enumerate(tokens(page)):
        if token.type == "heading_open":
            children = tokens(page)[at + 1].children or []
            text = "".join(child.content for child in children if child.type in ("text", "code_inline"))
            found.append(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-"))
    seen: Counter[str] = Counter()
    unique = set()
    for slug in found:
        unique.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return unique


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page: str) -> None:
    broken = []
    for link in links(page):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        name = str(target.resolve().relative_to(ROOT))
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(name)):
            broken.append(link)
    assert broken == []


def test_the_documents_are_short() -> None:
    words = {page: len((ROOT / page).read_text("utf-8").split()) for page in pages()}
    assert sum(words.values()) <= MOST_WORDS, words
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= MOST_LINES


# --- The reference ------------------------------------------------------------------------------------------


def test_the_reference_is_what_the_code_says() -> None:
    assert stale() == [], "run: python -m docs.write_reference"
    assert {path.name for path in (ROOT / "docs/reference").iterdir()} == {*WRITTEN, "python.md"}


def test_the_page_on_python_describes_every_public_name_and_argument() -> None:
    page = (ROOT / "docs/reference/python.md").read_text("utf-8")
    titles = re.findall(r"`(\w+)`", " ".join(re.findall(r"^## (.*)$", page, re.M)))
    assert sorted(titles) == sorted(forethought.__all__)
    section = page.split("## `build_agent`")[1].split("\n## ")[0]
    arguments = re.findall(r"^- `(\w+)`:", section, re.M)
    assert arguments == list(inspect.signature(forethought.build_agent).parameters)
    assert all(hasattr(forethought, name) for name in forethought.__all__)


# --- Examples -----------------------------------------------------------------------------------------------


def test_the_python_passes_mypy_as_strict_and_without_a_plugin(tmp_path: Path) -> None:
    assert "plugins" not in (ROOT / "pyproject.toml").read_text("utf-8")
    for name, block in examples().items():
        (tmp_path / f"{name}.py").write_text(block)
    wrong = 'from forethought import Context\n\nContext(max_usd="much")\nContext(model=3)\n'
    (tmp_path / "wrong.py").write_text(wrong)
    # In the project's own cache, where `make check` leaves what it knows of the package.
    command = (sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error" in line]
    assert len(errors) == 2, done.stdout + done.stderr
    assert all("wrong.py" in line for line in errors), done.stdout


@pytest.mark.parametrize("page", pages())
def test_the_json_can_be_read(page: str) -> None:
    for block in fences(page, "json"):
        try:
            json.loads(block)
        except ValueError:  # JSON Lines
            assert [json.loads(line) for line in block.splitlines()]
