"""Drawing with matplotlib (extra `evals`): one look for all plots, no screen, no font from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COLOURS = ("#1f5fa8", "#d1661f", "#3a8f4d", "#a33a6f", "#7a68b3", "#8a6d3b", "#2a9d9d", "#666666")
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "text.parse_math": False,  # a name may hold a dollar sign
    "svg.fonttype": "none",
    "svg.hashsalt": "forethought",
}


class PlotError(RuntimeError):
    """The plots cannot be drawn: one line that says what to do."""


@contextmanager
def axes(width: float = 5.6, height: float = 3.6) -> Iterator[Any]:
    """Axes to draw on, in inches; the figure is let go of afterwards. Raises PlotError without matplotlib."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError("plots need matplotlib: pip install 'forethought[evals]'") from error
    with matplotlib.rc_context(_STYLE):
        # A figure of its own instead of pyplot's: no global state, no window, safe in threads.
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure.subplots()


def save(drawn: Any, path: Path) -> list[Path]:
    """Write the axes' figure as PATH.svg and PATH.png (150 dpi). The same data gives the same SVG."""
    import matplotlib

    figure, written = drawn.figure, []
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(_STYLE):
        for kind, extra in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 150})):
            target = path.with_name(f"{path.name}.{kind}")
            figure.savefig(target, format=kind, **extra)
            written.append(target)
    return written


def colour(at: int) -> str:
    """The colour of the method number `at`."""
    return COLOURS[at % len(COLOURS)]
