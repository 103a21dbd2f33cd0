"""Which texts have the shape of a key, and that names, versions and dates have it not."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.key_shape import looks_like_a_key

WORDS = st.sampled_from(
    ["frontend", "turbo", "claude", "west", "europe", "project", "team", "data", "Vision"]
)
NUMBERS = st.integers(0, 99).map(str) | st.sampled_from(["", "2024", "20240307"])


@given(
    st.lists(st.tuples(WORDS, NUMBERS), max_size=2),
    st.sampled_from(["", "-", "_", "."]),
    st.sampled_from(["", "a", "v2"]),
)
def test_words_and_numbers_are_no_key(pieces: list[tuple[str, str]], between: str, revision: str) -> None:
    text = between.join([*(word + number for word, number in pieces), revision])
    assert not looks_like_a_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "gpt4turbo2024a", "gpt4o2024mini", "text2vec4german2023", "mixtral8x7binstruct", "20240307T120000Z",
        "wallpaper1920x1080px", "MyVerySpecialProject2024", "hf_hub_download_v2", "sk-learn-2024-notes",
        "2024-05-01-preview", "1234567890123456", "getUserAccount",
    ],
)  # fmt: skip
def test_a_name_is_no_key(text: str) -> None:
    assert not looks_like_a_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "3f786850e387550fdab836ed7e6dc881", "749e9723-a8f1-4b6e-9d44-446655440000", "NzQ5ZTk3MjMtYTg",
        "sk-proj-frontend2024", "ghp_turbo2024turbo", "AKIAIOSFODNN7EXAMPLE", "tvly-dev-turbo2024turbo",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "Bearer 9aK3xw7Lq0ZtB5vRmN2c", "x/9aK3xw7Lq0ZtB5vRmN2c",
    ],
)  # fmt: skip
def test_a_key_is_one(text: str) -> None:
    assert looks_like_a_key(text)


@pytest.mark.parametrize(
    ("alphabet", "length", "least"),
    [
        (string.hexdigits[:16], 16, 0.88),
        (string.ascii_letters + string.digits, 20, 0.93),
        (string.ascii_lowercase + string.digits, 24, 0.9),
        (string.ascii_lowercase + string.digits, 32, 0.98),
        (string.ascii_uppercase + "234567", 40, 0.95),
    ],
)
def test_nearly_all_that_is_drawn_at_random_is_one(alphabet: str, length: int, least: float) -> None:
    draw = random.Random(7)
    found = [looks_like_a_key("".join(draw.choices(alphabet, k=length))) for _ in range(2000)]
    assert sum(found) / len(found) >= least
