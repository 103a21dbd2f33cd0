"""The repository as a whole: what is installed, what is committed, what the pictures and examples say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from dotenv import dotenv_values

from docs.draw_graph import draw, mermaid, with_picture
from docs.draw_run import PICTURE, film, stale
from forethought.models.providers import KEYS
from forethought.settings import VARIABLES, Settings

ROOT = Path(__file__).resolve().parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WHEEL: dict[str, Any] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
PACKAGES: list[str] = WHEEL["packages"]
LONGEST = 400
"""Lines that no file of the packages exceeds."""


def of_packages(pattern: str) -> list[Path]:
    """Files of the packages that match `pattern`, relative to the root."""
    folders = [ROOT / package for package in PACKAGES]
    folders += [path for path in (ROOT / "forethought").iterdir() if path.is_symlink()]
    found = [path for folder in folders for path in folder.rglob(pattern)]
    return sorted(path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts)


def test_the_packages_listed_are_the_packages_there() -> None:
    assert ["forethought"] == PACKAGES == PROJECT["tool"]["mypy"]["packages"]


@pytest.mark.parametrize("name", ["graph", "nodes", "prompts", "tools"])
def test_the_folders_at_the_top_are_packages_of_forethought(name: str) -> None:
    assert os.readlink(ROOT / "forethought" / name) == f"../{name}"


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in of_packages("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (ROOT / folder / "__init__.py").is_file()] == []


def test_graph_and_nodes_import_nothing_by_themselves() -> None:
    assert [name for name in ("graph", "nodes") if (ROOT / name / "__init__.py").read_text()] == []


def test_no_file_is_longer_than_a_person_reads_in_a_sitting() -> None:
    lines = {str(path): len((ROOT / path).read_text("utf-8").splitlines()) for path in of_packages("*.py")}
    assert {path: count for path, count in lines.items() if count > LONGEST} == {}


def test_every_prompt_template_has_a_golden_file() -> None:
    templates = {path.stem for path in (ROOT / "prompts").glob("*.md") if not path.name.startswith("_")}
    golden = [path.name for path in (ROOT / "tests/prompts/golden").rglob("*") if path.is_file()]
    covered = {
        max((name for name in templates if file.startswith(name)), key=len, default="") for file in golden
    }
    assert templates - covered == set()


def test_langgraph_json_is_valid(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "langgraph_cli", "validate", "--config", str(ROOT / "langgraph.json")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "warning" in done.stdout + done.stderr) == (0, False), done.stdout + done.stderr
    graphs = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    assert set(graphs) == {"agent", "debugger", "distiller", "synthesizer"}


def test_what_must_not_be_committed_is_ignored() -> None:
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {".env", ".venv/", ".langgraph_api/", "*.sqlite"} <= set(ignored)
    assert ".env.example" not in ignored


def example() -> tuple[dict[str, str], list[str]]:
    """The variables of .env.example once the # is taken off, and those that no line explains."""
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    given, unexplained = {}, []
    for at, line in enumerate(lines):
        if found := re.fullmatch(r"# ([A-Z][A-Z0-9_]+)=(.*)", line):
            given[found[1]] = found[2]
            if not re.match(r"# [A-Z].* .*[.).]$", lines[at - 1]):
                unexplained.append(found[1])
    return given, unexplained


def test_the_example_of_an_env_file_names_every_setting_and_only_what_there_is() -> None:
    given, unexplained = example()
    keys = {name for names in KEYS.values() for name in names}
    assert unexplained == []
    assert VARIABLES.keys() - set(given) == set()
    assert set(given) - VARIABLES.keys() - keys == {
        "FORETHOUGHT_DEBUG", "FORETHOUGHT_SECRETS", "LANGSMITH_TRACING",
    }  # fmt: skip
    assert {"OPENAI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "TAVILY_API_KEY"} <= set(given)


def test_the_example_of_an_env_file_is_all_comment_and_valid_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dotenv_values(ROOT / ".env.example") == {}
    file = tmp_path / ".env"
    file.write_text("\n".join(f"{name}={value}" for name, value in example()[0].items()))
    for name, value in dotenv_values(file).items():
        monkeypatch.setenv(name, value or "")
    settings = Settings()
    assert settings.allowed_models == ("openai:gpt-4.1", "openai:gpt-4.1-mini")
    assert (settings.model, settings.max_usd, settings.require_plan_approval) == (
        "openai:gpt-4.1",
        2.5,
        False,
    )


def test_the_picture_of_the_graph_is_drawn_from_the_code() -> None:
    assert draw(ROOT / "docs/concepts/overview.md", check=True) is None


def test_a_stale_picture_is_seen_and_drawn_anew(tmp_path: Path) -> None:
    file = tmp_path / "R.md"
    file.write_text("above\n<!-- graph -->\nold\n<!-- /graph -->\nbelow\n")
    assert "stale" in str(draw(file, check=True))
    assert (draw(file), draw(file, check=True)) == (None, None)
    text = file.read_text()
    assert (text.startswith("above\n"), text.endswith("\nbelow\n"), mermaid() in text) == (True, True, True)


@pytest.mark.parametrize("text", ["", "<!-- graph -->", "<!-- /graph --> <!-- graph -->"])
def test_a_file_without_a_place_for_the_picture_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="there must be one line"):
        with_picture(text, "flowchart TD")


def test_the_picture_has_every_node() -> None:
    nodes = (
        "planner",
        "prospective_reflector",
        "approve_plan",
        "replan_trigger",
        "answer_agent",
        "score_keeper",
    )
    drawn = set(mermaid().split())
    assert {*nodes, "tool_agent", "tool_executor", "start_", "end_"} <= drawn


def test_the_picture_of_a_run_shows_the_demo_and_asks_the_web_for_nothing() -> None:
    picture = PICTURE.read_text("utf-8")
    assert not stale(picture, film()), "run: python -m docs.draw_run"
    assert stale(picture, picture.replace("Reflector", "Critic"))
    assert set(re.findall(r"\w+://[^\"\s]*", picture)) == {"http://www.w3.org/2000/svg"}


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run make on the repository's Makefile without doing anything."""
    command = ["make", "--no-print-directory", *arguments]
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_make_alone_names_every_command() -> None:
    named = re.findall(r"^make ([\w-]+) ", make().stdout, flags=re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert phony is not None
    assert set(named) == set(phony[1].split()) - {"help"}


def test_without_a_fitting_python_one_line_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("make", "sh", "uname"):
        found = next(Path(folder, name) for folder in ("/bin", "/usr/bin") if Path(folder, name).exists())
        (tmp_path / "bin" / name).symlink_to(found)
    done = make(f"VENV={tmp_path}/v", f"{tmp_path}/v/.made", PATH=str(tmp_path / "bin"))
    assert done.returncode != 0
    assert done.stderr.startswith("forethought needs Python 3.11, 3.12 or 3.13")
    assert not (tmp_path / "v").exists()


def test_ci_runs_the_checks_and_the_tests() -> None:
    script = ROOT / ".ci/run"
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text()
    assert re.findall(r"^make (\w+)$", script.read_text(), flags=re.MULTILINE) == ["check", "test"]


def test_the_last_line_says_when_no_browser_was_found(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/browser"]
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    last = done.stdout.splitlines()[-1]
    assert last == "browser tests: not run, no Chromium found; install the package chromium", done.stderr


def test_what_the_page_on_threats_names_exists() -> None:
    text = (ROOT / "docs/threats.md").read_text("utf-8")
    tests, files = re.findall(r"(tests/[\w/]+\.py)::(\w+)", text), re.findall(r"\]\(([\w./-]+)", text)
    assert len(tests) > 30
    assert [name for file, name in tests if f"def {name}(" not in (ROOT / file).read_text("utf-8")] == []
    assert [file for file in files if not (ROOT / "docs" / file).exists()] == []
