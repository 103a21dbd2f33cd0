"""Calendars and address cards: folded lines, encodings, times with their zone, recurrence."""

from __future__ import annotations

from forethought.tools.documents.formats import read_document

CALENDAR = """BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY:Budget meeting in the lar
 ge hall\\, floor 2
DTSTART;TZID=Europe/Berlin:20260303T100000
RRULE:FREQ=WEEKLY;COUNT=10
EXDATE;TZID=Europe/Berlin:20260310T100000,20260317T100000
ATTENDEE;CN="Ana; Ben";PARTSTAT=DECLINED:mailto:ana@example.org
STATUS:CANCELLED
END:VEVENT
END:VCALENDAR
"""


def test_an_event_says_when_it_is_when_not_and_who_comes() -> None:
    text = read_document(CALENDAR.replace("\n", "\r\n").encode(), "a.ics").text
    assert text == (
        "Event:\n- SUMMARY: Budget meeting in the large hall, floor 2\n"
        "- DTSTART: 2026-03-03 10:00 (Europe/Berlin)\n- RRULE: FREQ=WEEKLY;COUNT=10\n"
        "- EXDATE: 2026-03-10 10:00,2026-03-17 10:00 (Europe/Berlin)\n"
        "- ATTENDEE, cn Ana; Ben, partstat DECLINED: mailto:ana@example.org\n- STATUS: CANCELLED"
    )


def test_cards_keep_their_umlauts_in_every_version() -> None:
    old = (
        b"BEGIN:VCARD\r\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg M=\r\n=C3=BCller\r\n"
        b"PHOTO;ENCODING=BASE64:AAAA\r\n BBBB\r\nEND:VCARD\r\n"
    )
    assert read_document(old, "a.vcf").text == "Card:\n- FN: Jörg Müller\n- PHOTO: (not shown)"
    latin = "BEGIN:VCARD\nFN:Jörg Müller\nitem1.TEL;TYPE=work:+49 30\nEND:VCARD".encode("cp1252")
    assert read_document(latin, "a.vcf").text == "Card:\n- FN: Jörg Müller\n- TEL, type work: +49 30"
