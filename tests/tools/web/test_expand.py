from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.web.expand import ACCEPTED, TooLarge, Unpackable, expand

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def test_every_accepted_encoding_is_known() -> None:
    assert ACCEPTED.split(", ") == list(PACK)


@given(st.binary(max_size=2000), st.lists(st.sampled_from(list(PACK)), max_size=3))
def test_layers_come_off_in_the_order_they_were_put_on(data: bytes, layers: list[str]) -> None:
    packed = data
    for name in layers:
        packed = PACK[name](packed)
    assert expand(packed, ", ".join(layers), 10_000) == data


@pytest.mark.parametrize("name", list(PACK))
def test_the_limit_itself_is_allowed_and_one_byte_more_is_not(name: str) -> None:
    assert len(expand(PACK[name](b"a" * 5000), name, 5000)) == 5000
    with pytest.raises(TooLarge):
        expand(PACK[name](b"a" * 5001), name, 5000)


@pytest.mark.parametrize("name", list(PACK))
def test_a_bomb_does_not_fill_the_memory(name: str) -> None:
    bomb = PACK[name](bytes(100_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            expand(bomb, name, 1_000_000)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", list(PACK))
def test_what_is_cut_off_is_not_taken_for_the_whole(name: str) -> None:
    packed = PACK[name](bytes(range(256)) * 20)
    with pytest.raises(Unpackable):
        expand(packed[: len(packed) // 2], name, 100_000)


@given(st.binary(min_size=1, max_size=200), st.sampled_from(list(PACK)))
def test_rubbish_is_refused_or_short(data: bytes, name: str) -> None:
    try:
        assert len(expand(data, name, 1000)) <= 1000
    except (Unpackable, TooLarge):
        return


def test_deflate_without_its_header_and_several_gzip_members() -> None:
    raw = zlib.compressobj(wbits=-15)
    assert expand(raw.compress(b"tea") + raw.flush(), "deflate", 10) == b"tea"
    assert expand(gzip.compress(b"te") + gzip.compress(b"a") + b"\0\0", "x-gzip", 10) == b"tea"


@pytest.mark.parametrize("encoding", ["", "identity", " , none"])
def test_what_is_not_packed_is_left_alone(encoding: str) -> None:
    assert expand(b"tea", encoding, 10) == b"tea"


@pytest.mark.parametrize("encoding", ["compress", "gzip, " * 4])
def test_unknown_and_endless_layers_are_refused(encoding: str) -> None:
    with pytest.raises(Unpackable, match="packed"):
        expand(b"tea", encoding, 10)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_very_many_empty_pieces_are_refused_at_once(name: str) -> None:
    """Each would cost a copy of all that follow: minutes for a page of ten megabytes."""
    with pytest.raises(Unpackable, match="pieces"):
        expand(PACK[name](b"") * 300_000, name, 10_000_000)
    assert expand(PACK[name](b"ab") * 500, name, 10_000_000) == b"ab" * 500
