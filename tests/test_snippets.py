"""The Python of the documents, as a user's type checker sees it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import forethought

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/api.md", *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/how-to/*.md")))


def snippets() -> dict[str, str]:
    """The blocks of Python by a module's name: the one that a first line says, or a number."""
    return {
        named[1] if (named := re.match(r"# (\w+)\.py\n", block)) else f"{Path(page).stem}_{number}": block
        for page in PAGES
        for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", text(page), re.M | re.S))
    }


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def check(folder: Path) -> str:
    """What mypy says of the files in `folder`."""
    # In the project's own cache, where `make check` leaves what it knows of the package.
    command = (sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(folder))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout + done.stderr


def test_the_snippets_pass_mypy_as_strict_and_without_a_plugin(tmp_path: Path) -> None:
    assert "plugins" not in text("pyproject.toml")
    for name, block in snippets().items():
        (tmp_path / f"{name}.py").write_text(block)
    wrong = 'from forethought import Context\n\nContext(max_usd="much")\nContext(model=3)\n'
    (tmp_path / "wrong.py").write_text(wrong)
    said = check(tmp_path)
    errors = [line for line in said.splitlines() if ": error" in line]
    assert len(errors) == 2, said
    assert all("wrong.py" in line for line in errors), said


def test_the_page_on_the_api_describes_every_public_name_and_argument() -> None:
    page = text("docs/api.md")
    titles = re.findall(r"`(\w+)`", " ".join(re.findall(r"^## (.*)$", page, re.M)))
    assert sorted(titles) == sorted(forethought.__all__)
    assert re.findall(r"^    (\w+),$", page, re.M)[: len(titles)] == forethought.__all__
    rows = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert rows == list(inspect.signature(forethought.build_agent).parameters)
    assert all(hasattr(forethought, name) for name in forethought.__all__)
