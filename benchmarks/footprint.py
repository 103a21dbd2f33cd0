"""Print what an installation weighs and what the first file of each kind costs.

    python -m benchmarks.footprint [--python 3.12]

It installs this checkout without extras into a fresh environment, adds up the sizes of its files (without
bytecode), counts its packages, and reads a file of each everyday format in a new process that has read none
before. It takes `uv`, and half a minute.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ROOT / "tests/tools/documents/made_elsewhere"
EVERYDAY = ("letter.docx", "talk.pptx", "book.xlsx", "book.csv", "letter.html", "letter.pdf")
READ = """import sys, time
from pathlib import Path
from forethought.tools.documents.formats import read_document
path = Path(sys.argv[1])
read_document(path.read_bytes(), path.name)
print(time.process_time())"""
LARGEST = 8


def install(folder: Path, python: str) -> Path:
    """Install into a fresh environment. Returns its interpreter."""
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", python, str(folder)], check=True)
    interpreter = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    command = [*uv, "pip", "install", "--quiet", "--python", str(interpreter), str(ROOT)]
    subprocess.run(command, check=True)
    return interpreter


def weights(folder: Path) -> dict[str, int]:
    """Bytes by the folder that holds them: a package, or `bin`."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.suffix != ".pyc":
            parts = path.relative_to(folder).parts
            below = parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts
            sizes[below[0]] = sizes.get(below[0], 0) + path.stat().st_size
    return sizes


def first_read(interpreter: Path, name: str, folder: Path) -> float:
    """CPU seconds of a new process that reads this file."""
    command = [str(interpreter), "-c", READ, str(FILES / name)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "venv"
        interpreter = install(folder, arguments.python)
        sizes = weights(folder)
        listing = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "list",
            "--format",
            "json",
            "--python",
            str(interpreter),
        ]
        packages = json.loads(subprocess.run(listing, capture_output=True, check=True).stdout)
        print(f"installed: {sum(sizes.values()) / 1e6:.0f} MB in {len(packages)} packages")
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:LARGEST]
        print("largest:", ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest))
        first_read(
            interpreter, EVERYDAY[0], Path(place)
        )  # so that bytecode is there, as after an installation by pip
        for name in EVERYDAY:
            seconds = first_read(interpreter, name, Path(place))
            print(f"first {Path(name).suffix}: {seconds:.2f} s of CPU")


if __name__ == "__main__":
    main()
