"""What number formats add to numbers; the formats are those that Excel and LibreOffice write."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.tools.documents.number_formats import formatted

ACCOUNTING = '_-* #,##0.00 €_-;-* #,##0.00 €_-;_-* "-"?? €_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (80, '#,##0.00 "EUR"', "80 EUR"),
        (80.5, '"EUR" #,##0', "EUR 80.5"),
        (-80, "[$€-407] #,##0.00", "-€ 80"),
        (80, "#,##0.00\\ [$CZK]", "80 CZK"),
        (80, "[$-409]#,##0.00", "80"),
        (80, ACCOUNTING, "80 €"),
        (0, ACCOUNTING, "0 €"),
        (-7, "$#,##0_);($#,##0)", "-$7"),
        (20, "0\\°\\C", "20°C"),
        (5, 'General" km"', "5 km"),
        (12, '0" h (est.)"', "12 h (est.)"),
        (1234567, "#,##0,", "1234.567 (in full: 1234567)"),
        (1500000, '$0.0,, "million"', "$1.5 million (in full: 1500000)"),
        (0.155, "0%", "15.5%"),
        (-0.15, "0.0%;[Red]-0.0%", "-15%"),
        (15, '0"%"', "15%"),
        (1234, "00000", "01234"),
        (1, '"Yes";"No";"No"', "1 (shown as Yes)"),
        (0, '"Yes";"No";"No"', "0 (shown as No)"),
        (5, '[<1]0" kg";[>=1]0" t"', "5"),
        (5, '"a;b" 0', "a;b 5"),
        (12345.678, "0.00E+00", "12345.678"),
        (5, ";;;", "5"),
        (5.25, "[h]:mm:ss", "5.25"),
        (5, "# ?/?", "5"),
    ],
)
def test_what_a_format_says_is_not_lost(value: float, number_format: str, text: str) -> None:
    assert formatted(value, number_format) == text


@given(
    st.decimals(min_value=-(10**9), max_value=10**9, places=3), st.text(alphabet='0#?.,;%"[]$€-_*\\ E+@<1kg')
)
def test_no_format_changes_a_number(value: Decimal, number_format: str) -> None:
    text = formatted(float(value), number_format)
    plain = format(value.normalize(), "f").lstrip("-")
    assert plain in text or format((value * 100).normalize(), "f").lstrip("-") in text
