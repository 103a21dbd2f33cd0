"""The kinds of goods that the small shop has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_COLOURS = ("black", "white", "navy", "green", "red", "grey", "yellow", "purple")


@dataclass(frozen=True)
class Kind:
    """A kind of product."""

    noun: str
    department: str
    attributes: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    prices: tuple[int, int]
    """Dollars, from and to."""


KINDS = (
    Kind(
        "coffee mug",
        "Kitchen › Drinkware",
        ("dishwasher safe", "double walled", "hand painted", "with lid", "stackable"),
        {"color": _COLOURS, "size": ("8 oz", "12 oz", "16 oz", "20 oz")},
        (8, 40),
    ),
    Kind(
        "table lamp",
        "Home › Lighting",
        ("dimmable", "touch control", "usb charging", "energy saving", "battery powered"),
        {"color": _COLOURS, "size": ("10 inch", "14 inch", "18 inch")},
        (20, 120),
    ),
    Kind(
        "running shoes",
        "Clothing › Shoes",
        ("water resistant", "slip resistant", "memory foam", "reflective", "vegan"),
        {"color": _COLOURS, "size": ("7", "8", "9", "10", "11")},
        (40, 160),
    ),
    Kind(
        "backpack",
        "Luggage › Bags",
        ("laptop sleeve", "rain cover", "padded straps", "anti theft", "foldable"),
        {"color": _COLOURS, "size": ("15 litre", "22 litre", "30 litre")},
        (25, 140),
    ),
    Kind(
        "desk chair",
        "Office › Furniture",
        ("lumbar support", "adjustable armrests", "breathable mesh", "tilt lock", "quiet casters"),
        {"color": _COLOURS, "style": ("low back", "mid back", "high back")},
        (80, 400),
    ),
    Kind(
        "shampoo",
        "Beauty › Hair Care",
        ("sulfate free", "color safe", "tea tree", "fragrance free", "anti dandruff"),
        {"scent": ("mint", "citrus", "unscented"), "size": ("250 ml", "500 ml", "1 litre")},
        (6, 35),
    ),
    Kind(
        "phone case",
        "Electronics › Accessories",
        ("shock proof", "wireless charging", "scratch resistant", "card holder", "non yellowing"),
        {"color": _COLOURS, "style": ("matte", "glossy", "ribbed")},
        (8, 45),
    ),
    Kind(
        "bath towel",
        "Home › Bathroom",
        ("quick drying", "organic cotton", "extra absorbent", "lint free", "hotel quality"),
        {"color": _COLOURS, "size": ("small", "medium", "large", "x-large")},
        (9, 60),
    ),
)
