"""Quotations that are loose, invented, too short, or looked for in megabytes."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.trajectories.quotes import occurs

TEXT = 'Action: click[Buy now]\nThe shop said: "We don’t ship to\n  the moon", and closed — for good.'


@pytest.mark.parametrize(
    "quote",
    [
        "click[buy NOW]",
        "“We don't ship to the moon”",
        "The shop said ... closed",
        "The shop said: […] for good",
        "We don't ship ... the moon ... for good.",
        "closed - for good",
        'The shop said: \\"We don\\u2019t ship to\\n  the moon\\"',
        "`click[Buy now]`.",
        "said: we",
        "moon",
    ],
)
def test_loose_copies_occur(quote):
    assert occurs(quote, TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "a",
        "the",
        "...",
        "\n",
        "We do ship to the moon",
        "closed ... ship to the moon",
        "mo on",
        "hop said x",
        "oon,",
    ],
)
def test_inventions_and_scraps_do_not(quote):
    assert not occurs(quote, TEXT)


def test_a_short_quotation_must_be_whole_words():
    assert occurs("look", "action: look")
    assert not occurs("look", "an overlooked thing")


@pytest.mark.parametrize("action", ["Finish[5]", "submit({})", "f(all)"])
def test_a_short_action_may_end_in_a_mark(action):
    assert occurs(action, f"planning: done\naction: {action}\nobservation: ok")


def test_a_quotation_of_what_is_escaped_in_the_text():
    said = {"note": 'He wrote: "später", twice\n😀 at noon'}
    assert occurs('He wrote: "später", twice 😀 at noon', json.dumps(said))
    assert occurs(json.dumps(said["note"]), said["note"])


@given(st.text(min_size=1), st.text(), st.text())
def test_never_raises_and_what_is_cut_out_occurs(quote, before, after):
    words = f"quoted {quote} here"
    assert isinstance(occurs(quote, before + after), bool)
    assert occurs(words, f"{before} {words} {after}") or "\\" in before + words + after or ".." in words


@pytest.mark.parametrize("filler", ["a ", " ", "\\", "\\u0041", "...", "ab" * 3])
def test_megabytes_take_a_moment(filler):
    text = filler * (600_000 // len(filler))
    started = time.process_time()
    assert not occurs("nowhere ... to be found", text)
    assert occurs("the end of it", text + " the end of it")
    assert time.process_time() - started < 3
