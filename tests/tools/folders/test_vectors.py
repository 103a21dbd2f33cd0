"""Search by embeddings, which a server on this machine makes, beside the search by words."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from forethought.extras import install_command
from forethought.settings import Settings
from forethought.tools.files import FilesError
from forethought.tools.folders.given import Folders
from forethought.tools.folders.intake import index_folder
from forethought.tools.folders.places import kept_folders
from forethought.tools.folders.vectors import by_both
from tests.support.folders import write

MEANINGS = ("car automobile vehicle", "dog hound puppy", "rent lease tenancy")
loads_extensions = hasattr(sqlite3.Connection, "enable_load_extension")
with_extensions = pytest.mark.skipif(not loads_extensions, reason="this Python's SQLite loads no extensions")


class Server(ThreadingHTTPServer):
    """Embeds a text as the meanings of its words; `texts` holds what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.texts: list[str] = []
        self.fails = False


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        self.server.texts += texts
        data = [
            {"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)
        ]
        reply = json.dumps({"object": "list", "data": data, "model": "m", "usage": {}}).encode()
        self.send_response(400 if self.server.fails else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


def vector(text: str) -> list[float]:
    words = text.lower().replace(".", " ").split()
    return [0.1 + sum(word in meaning.split() for word in words) for meaning in MEANINGS]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield http
        http.shutdown()


@pytest.fixture
def settings(server: Server, tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path / "data",
        base_url=f"http://127.0.0.1:{server.server_port}/v1",
        embedding_model="openai:m",
    )


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    files = {
        "a.txt": "The automobile is red.",
        "b.txt": "A hound barked.",
        "c/d.txt": "The lease ends in May.",
    }
    return write(tmp_path / "letters", files)


@with_extensions
def test_a_search_finds_other_words_of_the_same_meaning(settings: Settings, letters: Path) -> None:
    ref, _ = index_folder(letters, settings)
    folders = Folders([ref], settings)
    assert folders.search("car", 3)[0].name == "a.txt"
    assert folders.search("barked", 3)[0].name == "b.txt", "words count as before"
    assert [hit.name for hit in folders.search("car", 3, ["c/d.txt"])] == ["c/d.txt"]
    assert not Folders([ref], settings.model_copy(update={"embedding_model": None})).search("car", 3)


@with_extensions
def test_only_new_passages_are_embedded(settings: Settings, server: Server, letters: Path) -> None:
    index_folder(letters, settings)
    assert len(server.texts) == 3
    write(letters, {"a.txt": "My puppy.", "e.txt": "A hound barked."})
    ref, _ = index_folder(letters, settings)
    assert server.texts[3:] == ["My puppy."]
    folders = Folders([ref], settings)
    found = [hit.name for hit in folders.search("dog", 3)][:2]
    assert sorted(found) == ["a.txt", "b.txt"]
    other = settings.model_copy(update={"embedding_model": "openai:n"})
    index_folder(letters, other)
    assert server.texts.count("My puppy.") == 2, "another model embeds all anew"
    (kept,) = kept_folders(settings)
    kept.forget()
    assert [path.name for path in (settings.data_dir / "folders").iterdir()] == ["secret"]


@with_extensions
def test_a_model_that_fails_is_named(settings: Settings, server: Server, letters: Path) -> None:
    server.fails = True
    with pytest.raises(FilesError, match="openai:m"):
        index_folder(letters, settings)


@pytest.mark.skipif(loads_extensions, reason="this Python's SQLite loads extensions")
def test_a_missing_extension_is_told(settings: Settings, letters: Path) -> None:
    with pytest.raises(FilesError) as told:
        index_folder(letters, settings)
    assert "another build of Python" in str(told.value) or install_command("embeddings") in str(told.value)


def test_a_passage_that_both_rankings_have_comes_first() -> None:
    first, second, third = ((number, 0, 9, 1, "", "", "x", 1.0) for number in (1, 2, 3))
    assert [row[0] for row in by_both([first, second], [second, third])] == [2, 1, 3]
