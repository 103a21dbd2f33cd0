"""What tests of real training share: the marker's reason, and a tiny base model."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.forethought.training.samples import CITIES, record
from tests.support.tiny_model import make_tiny_model

NEEDED = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without the extra, the tests marked `train` are skipped, and say what they miss."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    reason = f"needs the extra `train` (missing: {', '.join(missing)}): make test-train"
    for item in items:
        if item.get_closest_marker("train"):
            # The libraries warn of each other's plans; that is no fault of the code under test.
            item.add_marker(pytest.mark.filterwarnings("default"))
            if missing:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def base_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model whose tokenizer knows the samples' words."""
    import torch

    torch.set_num_threads(1)  # more would wait for each other, so little is there to do
    records = [record(number) for number in range(len(CITIES))]
    texts = [text for one in records for text in (*one.prompt(), one.reflection)]
    return make_tiny_model(tmp_path_factory.mktemp("base"), texts)
