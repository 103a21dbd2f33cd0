"""Text on layers of a PDF that are switched off."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any


def switched_off(page: Any, items: Sequence[Any]) -> Iterator[Any]:
    """The things on layers that a viewer does not show.

    PDFium does not say which layers are off, but it does not draw them: what it does not draw is off.
    """
    from pypdfium2 import raw

    things = [item for item in items if item.type != raw.FPDF_PAGEOBJ_FORM]
    layers: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for item in things:
        layers[tuple(_layers(item))].append(item)
    layers.pop((), None)
    if not layers:
        return
    _show(things, False)
    for on_it in layers.values():
        _show(on_it, True)
        # On a clear ground, white text is seen too.
        if not any(bytes(page.render(fill_color=(0, 0, 0, 0), may_draw_forms=False).buffer)):
            yield from on_it
        _show(on_it, False)
    _show(things, True)


def _show(items: Sequence[Any], shown: bool) -> None:
    from pypdfium2 import raw

    for item in items:
        raw.FPDFPageObj_SetIsActive(item, shown)


def _layers(item: Any) -> Iterator[str]:
    """The names of the layers that a thing, or a form around it, is on."""
    from pypdfium2 import raw

    buffer, length = ctypes.create_string_buffer(256), ctypes.c_ulong()
    text = ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR))
    for number in range(raw.FPDFPageObj_CountMarks(item)):
        mark = raw.FPDFPageObj_GetMark(item, number)
        raw.FPDFPageObjMark_GetName(mark, text, 256, length)
        if buffer.raw[: length.value] == "OC\0".encode("utf-16-le"):
            raw.FPDFPageObjMark_GetParamStringValue(mark, b"Name", text, 256, length)
            yield buffer.raw[: length.value].decode("utf-16-le", "replace")
    if item.container:
        yield from _layers(item.container)
