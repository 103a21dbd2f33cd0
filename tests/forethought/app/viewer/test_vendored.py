"""The vendored scripts are the recorded ones, each with its licence."""

from __future__ import annotations

import re

from forethought.app.viewer.site import HERE
from forethought.json_files import sha256
from tests.test_repository import ROOT

VENDOR = HERE / "static" / "vendor"


def test_the_vendored_files_are_the_recorded_ones() -> None:
    lines = (VENDOR / "sums.txt").read_text().split("\n")[:-1]
    recorded = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    files = [path for path in VENDOR.iterdir() if path.suffix in (".js", ".LICENSE")]
    assert recorded == {path.name: sha256(path) for path in files}
    assert {name.split(".")[0] for name in recorded} == {"dagre", "idiomorph"}
    assert all((VENDOR / f"{name}.LICENSE").exists() for name in ("dagre", "idiomorph"))
    assert not any("sourceMappingURL" in path.read_text("utf-8") for path in VENDOR.glob("*.js"))


def test_the_page_on_them_names_the_versions_that_make_downloads() -> None:
    pinned = re.findall(r"\$\(call vendor,\w+,([@\w/-]+)@([\d.]+),", (ROOT / "Makefile").read_text())
    assert len(pinned) == 2
    page = (VENDOR / "README.md").read_text()
    assert all(
        f"[{name}](https://www.npmjs.com/package/{name}) {version} |" in page for name, version in pinned
    )
