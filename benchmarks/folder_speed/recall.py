"""Recall of HotpotQA's supporting paragraphs at 10: our index against bm25s, on the same paragraphs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from forethought.settings import Settings
from forethought.tools.folders.given import Folders
from forethought.tools.folders.intake import index_folder

TOP = 10
Search = Callable[[str], Sequence[str]]
"""Titles for a question, best first."""


def read(data: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The questions in a folder's JSON files, and all paragraphs by title."""
    questions, paragraphs = [], {}
    for path in sorted(data.glob("*.json")):
        for row in json.loads(path.read_text("utf-8")):
            if "question" in row:
                questions.append(row)
                paragraphs |= {title: "".join(sentences) for title, sentences in row["context"]}
            else:
                paragraphs.setdefault(row["title"], row["text"])
    return questions, paragraphs


def recall(questions: Sequence[Mapping[str, Any]], search: Search) -> float:
    """The mean share of a question's supporting paragraphs among the first ten."""
    shares = []
    for row in questions:
        wanted = {title for title, _ in row["supporting_facts"]}
        shares.append(len(wanted & set(search(row["question"])[:TOP])) / len(wanted))
    return sum(shares) / len(shares)


def our_search(paragraphs: Mapping[str, str], place: Path) -> Search:
    """Our index: each paragraph is a file with its title as heading."""
    root = place / "paragraphs"
    root.mkdir()
    titles = list(paragraphs)
    for number, title in enumerate(titles):
        (root / f"{number}.md").write_text(f"# {title}\n\n{paragraphs[title]}\n", "utf-8")
    settings = Settings(data_dir=place / "data")
    ref, _ = index_folder(root, settings)
    folders = Folders([ref], settings)

    def search(question: str) -> list[str]:
        names = dict.fromkeys(hit.name for hit in folders.search(question, 3 * TOP))
        return [titles[int(Path(name).stem)] for name in names]

    return search


def bm25s_search(paragraphs: Mapping[str, str]) -> Search:
    """bm25s with its defaults, English stop words and a stemmer."""
    import bm25s
    from Stemmer import Stemmer

    stemmer = Stemmer("english")
    titles = list(paragraphs)
    index = bm25s.BM25()

    def tokens(texts: Sequence[str]) -> Any:
        return bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False)

    index.index(tokens([f"{title}\n{text}" for title, text in paragraphs.items()]), show_progress=False)

    def search(question: str) -> list[str]:
        found, _ = index.retrieve(tokens([question]), k=TOP, show_progress=False)
        return [titles[number] for number in found[0]]

    return search


def table(data: Path, place: Path) -> str:
    """The recall of each ranking, as a table of Markdown."""
    questions, paragraphs = read(data)
    rankings: dict[str, Callable[[], Search]] = {
        "ours": lambda: our_search(paragraphs, place),
        "bm25s, stemmed": lambda: bm25s_search(paragraphs),
    }
    lines = [f"{len(questions)} questions, {len(paragraphs):,} paragraphs", ""]
    lines += [f"| ranking | recall at {TOP} |", "| :-- | --: |"]
    for name, make in rankings.items():
        try:
            lines.append(f"| {name} | {recall(questions, make()):.3f} |")
        except ImportError as error:
            lines.append(f"| {name} | not measured: pip install {error.name} |")
    return "\n".join(lines)
