"""Mixed documents for the measurement: most are small, some are long, and some hold photos."""

from __future__ import annotations

import io
import random
from datetime import date, timedelta
from pathlib import Path

from forethought.evals.benchmarks.folders import phrases
from forethought.evals.benchmarks.folders.benchmark import make
from forethought.evals.benchmarks.folders.making import PLANS
from forethought.evals.benchmarks.folders.writers import Document, write

SHARES = {"docx": 0.3, "eml": 0.25, "pdf": 0.2, "md": 0.1, "xlsx": 0.09, "csv": 0.06}
"""What part of the documents each kind is."""
ROWS = {"xlsx": (150, 5_000), "csv": (300, 40_000)}
"""Rows of a table, and of a large one."""
_LONG, _WITH_PHOTO = 0.04, 0.15
"""Parts of the documents."""


def texts(rng: random.Random) -> list[str]:
    """Paragraphs to compose documents of, as people write them."""
    folders = [make(plan, "speed") for plan in PLANS[:4]]
    found = [text for folder in folders for document in folder.files.values() for text in document.paragraphs]
    rng.shuffle(found)
    return found


def make_documents(root: Path, count: int) -> int:
    """Write `count` documents below `root`, always the same ones. Returns their bytes."""
    rng, size = random.Random(count), 0
    paragraphs, photos = texts(rng), [_photo(rng) for _ in range(6)]
    kinds = [kind for kind, share in SHARES.items() for _ in range(round(share * count))]
    rng.shuffle(kinds)
    for number, kind in enumerate(kinds):
        day = date(2020, 1, 1) + timedelta(days=rng.randrange(2_300))
        folder = root / f"{day:%Y}" / rng.choice(("letters", "reports", "contracts", "finance", "notes"))
        folder.mkdir(parents=True, exist_ok=True)
        document = _document(rng, kind, day, paragraphs, photos)
        size += (folder / f"{kind}-{number:05}.{kind}").write_bytes(write(kind, document))
    return size


def _document(
    rng: random.Random, kind: str, day: date, paragraphs: list[str], photos: list[bytes]
) -> Document:
    long = rng.random() < _LONG
    title = f"{rng.choice(paragraphs).split('.')[0][:60]}, {phrases.day(rng, day)}"
    if kind in ROWS:
        people = [phrases.person(rng) for _ in range(200)]
        rows = [
            (
                n,
                day + timedelta(days=n % 300),
                rng.choice(people),
                rng.choice(paragraphs)[:40],
                rng.randrange(99_999) / 100,
            )
            for n in range(rng.randrange(20, ROWS[kind][0]) if not long else ROWS[kind][1])
        ]
        return Document(title, [], [("number", "date", "person", "remark", "amount"), *rows], day=day)
    said = rng.choices(paragraphs, k=rng.randrange(200, 500) if long else rng.randrange(4, 30))
    seen = [rng.choice(photos)] if kind != "md" and rng.random() < _WITH_PHOTO else []
    return Document(title, said, day=day, pictures=seen)


def _photo(rng: random.Random) -> bytes:
    """A picture of 700 kB: noise, since no compression makes it smaller."""
    from PIL import Image

    made = io.BytesIO()
    Image.frombytes("RGB", (900, 900), rng.randbytes(900 * 900 * 3)).save(made, "JPEG", quality=88)
    return made.getvalue()
