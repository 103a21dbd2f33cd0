"""Whether a reflection gives its reference away: by words, by numbers in any notation, by parts."""

from __future__ import annotations

import pytest

from forethought.nodes.synthesizer.leaks import References

PLAN = (
    "Day 1: fly F0412 from Graz to Oslo, sleep at Fjord Loft\nDay 2: visit the Munch museum, dine at Kaia, "
    "sleep at Fjord Loft\nTotal cost: $1,312 for two persons all in all with the train to the airport"
)


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("Old Bridge", "It should have named the OLD bridge."),
        ("the Old Bridge", "Old-Bridge was open first."),
        ("Café Müller", "Go to Cafe Muller."),
        ("1,234.50", "The sum is 1234.5 in the end."),
        ("1234567", "About 1 234 567 people."),
        ("1.2 million", "It counts 1,200,000."),
        ("25 %", "A share of 0.25 is due."),
        ("42", "It comes to forty-two."),
        ("90", "Ninety of them are due."),
        ("2000", "About 2k are due."),
        ("12 km", "Twelve kilometres are right."),
        ("$88", "Expect 88."),
        ("14 July 1789", "It was in July of 1789."),
        ("Yes", "The right answer is simply yes."),
        ("Team B", "Compare with the reference answer."),
        ("Paris", "Paris's port is the largest."),
        ("Paris", "Look at Paris\u2019s port."),
        ("Levi's", "It is Levi's."),
        ("東京", "正解は東京です。"),
        ("กรุงเทพ", "คำตอบคือกรุงเทพครับ"),
        ("Yes", "It should have answered yes."),
        ("no", "The agent must conclude that it is no."),
        ("B", "The correct option is B."),
        (PLAN, "Sleep at Fjord Loft."),
        (PLAN, "Stay under 1312 in all."),
        (PLAN, "Take care: with the train to the airport it takes long."),
    ],
)
def test_what_gives_the_reference_away_is_found(reference: str, text: str) -> None:
    problem = References((reference,), "Which team, bridge or place is it?").problem(text)
    assert problem is not None


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("3", "In steps 1, 2 and 3 and in step 3 alone nothing was checked."),
        ("2", "1. Look.\n2. Compare."),
        ("No", "There was no check, and no source."),
        ("Team B", "Compare the totals of all teams before naming one."),
        ("1890", "Look the year up in step 4; 18 and 90 are other things."),
        ("blue", "Bluetooth is no colour."),
        ("1889", "The tasks's year 1889 has to be the year of the answer."),
        ("left", "It has left two pages unread."),
        ("more", "The plan should be more careful."),
        ("Kara", "karate, and Kar a's page, were looked up."),
        (PLAN, "Book a stay of the least number of nights and keep to the budget of $1,900."),
        ("", "Anything."),
    ],
)
def test_what_does_not_is_let_through(reference: str, text: str) -> None:
    assert References((reference,), "Was it built in 1889? The budget is $1,900.").problem(text) is None


def test_what_the_trial_itself_says_is_no_secret_of_a_long_reference() -> None:
    text = "Sleep at Fjord Loft was booked for one night, against its rule."
    assert References((PLAN,), "Plan a trip.").problem(text)
    assert References((PLAN,), "Plan a trip.", "booked: sleep at Fjord Loft").problem(text) is None
    assert References(("Fjord Loft",), "Plan a trip.", "booked: sleep at Fjord Loft").problem(text)


def test_it_says_what_to_change() -> None:
    problem = References(("37.5 kg",), "Weigh it.").problem("It weighs 37.50 kilograms.")
    assert problem == (
        'it reveals the reference ("37.50"): say how to reach the right result without quoting any of it'
    )
