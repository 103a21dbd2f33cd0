"""Colours of cells in words, since a legend says 'yellow: estimated' and not FFFF00."""

from __future__ import annotations

import colorsys
import re
from typing import Any

_HUES = ((15, "red"), (45, "orange"), (70, "yellow"), (165, "green"), (195, "turquoise"), (255, "blue"),
         (290, "purple"), (335, "pink"), (361, "red"))  # fmt: skip
_THEME = re.compile(rb'<a:(?:accent\d|hlink|folHlink)>.*?(?:val|lastClr)="([0-9A-Fa-f]{6})"')


def named_color(color: Any, book: Any = None) -> str:
    """A colour of openpyxl in words; '' for none, and for black, white and grey."""
    rgb = _rgb(color, book) if color is not None else ""
    if not re.fullmatch(r"[0-9A-Fa-f]{6,8}", rgb):
        return ""
    red, green, blue = (int(part, 16) / 255 for part in re.findall("..", rgb[-6:]))
    hue, light, strength = colorsys.rgb_to_hls(red, green, blue)
    if strength < 0.2 or light < 0.12 or light > 0.97:
        return ""
    name = next(name for end, name in _HUES if hue * 360 < end)
    return f"light {name}" if light > 0.85 else f"dark {name}" if light < 0.3 else name


def _rgb(color: Any, book: Any) -> str:
    from openpyxl.styles.colors import COLOR_INDEX

    if color.type == "rgb":
        return str(color.rgb)
    if color.type == "indexed" and color.indexed < len(COLOR_INDEX):
        return str(COLOR_INDEX[color.indexed])
    if color.type == "theme" and color.theme > 3:  # the first four are for text and background
        theme = _THEME.findall(book.loaded_theme or b"")
        return theme[color.theme - 4].decode() if color.theme - 4 < len(theme) else ""
    return ""
