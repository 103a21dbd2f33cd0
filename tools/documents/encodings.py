"""Which encoding a text that is not UTF-8 has, by its letters.

charset-normalizer tells the encodings of Chinese, Japanese and Korean apart. Of a short European text it
knows too little, so these are told by their words: letters of one language, no sign or capital inside a word.
"""

from __future__ import annotations

import re
from contextlib import suppress

_EAST_ASIAN = ["cp932", "euc_jp", "gb18030", "big5", "cp949"]
_WESTERN = ("äöüß", "éèêëàâçîïôùûœ", "áéíóúüñ", "àèéìòù", "áâãàçéêíóôõú", "åäöæøé", "áéíóúýþðæö", "ëéèïöü")
_CYRILLIC = (
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "абвгдђежзијклљмнњопрстћуфхцчџш",
)
_ALPHABETS = {
    "cp1254": ("çğıöşüâîû\u0307",),
    "cp1252": _WESTERN,
    "cp1250": ("ąćęłńóśźż", "áčďéěíňóřšťúůýžäĺľôŕ", "áéíóöőúüű", "ăâîşţ", "čćđšž"),
    "cp1251": _CYRILLIC,
    "cp1253": ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"),
    "cp1255": ("".join(map(chr, range(0x5D0, 0x5EB))),),
    "cp1256": ("".join(map(chr, range(0x621, 0x653))),),
    "koi8_r": _CYRILLIC[:1],
    "cp874": ("".join(map(chr, range(0xE01, 0xE5C))),),
    "cp850": _WESTERN[:3],
    "mac_roman": _WESTERN[:3],
}
"""Lower-case letters, besides a to z, of the languages that are written in each encoding."""
_NOT_LATIN = ("cp1251", "cp1253", "cp1255", "cp1256", "koi8_r", "cp874")
_LATIN = re.compile("[A-Za-z]")
_VOWELS = re.compile("[аеиоуыэюяёії]")
_AROUND = "€£§°µ±«»“”„‘’–—…•·²³½©®™().:!?'/-+%0123456789"
_WORD = re.compile(r"[^\s;,\t|\"]*[^\x00-\x7f][^\s;,\t|\"]*")
_SAMPLE = 20_000
"""Bytes."""


def guess_encoding(data: bytes) -> str:
    """The encoding that fits the bytes best; cp1252 if nothing tells."""
    lines = [line for line in data[: 50 * _SAMPLE].split(b"\n") if not line.isascii()]
    sample = b"\n".join(lines)[:_SAMPLE]
    if found := _east_asian(sample):
        return found
    best = max(_ALPHABETS, key=lambda encoding: _fits(sample, encoding))  # of equals the first
    return "cp1252" if sample.decode(best, "replace") == sample.decode("cp1252", "replace") else best


def _east_asian(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    for guess in from_bytes(sample, cp_isolation=_EAST_ASIAN):
        with suppress(UnicodeError):
            text = sample.decode(guess.encoding)
            signs = [c for c in text if c > "\x7f"]
            ideographs = sum(c >= "\u3000" for c in signs)
            pairs = re.findall("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{2}", text)
            if len(pairs) > 1 and ideographs * 10 >= len(signs) * 9:
                return guess.encoding
    return ""


def _fits(sample: bytes, encoding: str) -> int:
    """How many letters fit a language that is written in the encoding, less those that fit no word."""
    text = sample.decode(encoding, "replace")
    if "\ufffd" in text and encoding != "cp1252":
        return -len(sample)
    stripped = (word.strip(_AROUND) for word in _WORD.findall(text))
    words = [word for word in stripped if len(word) > 1]
    letters = [c for word in words for c in word.lower() if c > "\x7f"]
    unnatural = sum(
        word not in (word.lower(), word.upper(), word.capitalize(), word.title()) for word in words
    )
    if encoding in ("cp1251", "koi8_r"):
        unnatural += sum(len(word) > 3 and not _VOWELS.search(word.lower()) for word in words)
    if encoding in _NOT_LATIN:
        unnatural += sum(_LATIN.search(word) is not None for word in words)
    known = max(sum(c in alphabet for c in letters) for alphabet in _ALPHABETS[encoding])
    return known - 2 * (len(letters) - known) - 2 * unnatural
