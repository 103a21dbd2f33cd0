"""The words by which passages are found, whatever form they are written in."""

from __future__ import annotations

import pytest

from forethought.tools.folders.words import FUNCTION_WORDS, language_of, query_terms, tokens


def meets(query: str, text: str, language: str = "english") -> bool:
    """Whether a word of the query is a word of the text."""
    forms = {form for term in query_terms(query, FUNCTION_WORDS) for form in term}
    return not forms.isdisjoint(tokens(text, language))


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("errors", "an Error occurred", "english"),
        ("organisation", "many organizations", "english"),
        ("colours", "the color", "english"),
        ("Kündigungsfristen", "Die Kündigungsfrist beträgt", "german"),
        ("facture", "deux factures", "french"),
        ("resume", "son résumé", "english"),
        ("12500", "a fee of 12,500 EUR", "english"),
        ("1234.5", "Summe 1.234,50", "german"),
        ("10'000", "10 000 pieces", "english"),
        ("14 March 2025", "on 2025-03-14", "english"),
        ("14.03.2025", "March 14, 2025", "english"),
        ("3/14/2025", "14. März 2025", "german"),
        ("March 2025", "signed 2025-03-31", "english"),
        ("INV-2025-0042", "invoice inv 2025/0042, INV_2025-0042", "english"),
        ("文書", "日本語の文書です", "english"),
    ],
)
def test_forms_of_one_word_meet(query: str, text: str, language: str) -> None:
    assert meets(query, text, language)


@pytest.mark.parametrize(
    ("query", "text"), [("1.5", "15 pieces"), ("14 March 2025", "15 March 2025"), ("12500", "12,501")]
)
def test_other_numbers_and_days_do_not_meet(query: str, text: str) -> None:
    specific = {term[0] for term in query_terms(query, ["english"])} - {"2025", "march", "m202503"}
    assert specific.isdisjoint(tokens(text, "english"))


def test_a_query_does_without_stop_words_unless_it_has_no_others() -> None:
    assert query_terms("What is the rent?", ["english"]) == [("rent",)]
    assert query_terms("who is it", ["english"])


def test_the_language_of_most_function_words() -> None:
    assert language_of("Der Vertrag ist mit dem Mieter und der Bank geschlossen") == "german"
    assert language_of("Le contrat est signé par la banque et les locataires") == "french"
    assert language_of("1234 5678") == "english"
