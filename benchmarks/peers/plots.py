"""The plots of a run, as SVG and PNG: a figure over K, by shape."""

from __future__ import annotations

from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.peers.report import Table
from benchmarks.peers.task import SHAPES

_STYLE = {"font.size": 8, "axes.grid": True, "svg.fonttype": "none", "svg.hashsalt": "peers"}


def draw(table: Table, folder: Path) -> None:
    """Time and tokens with the slowest model, processor time with the fastest."""
    latencies = [setting.latency_ms for setting in table.chosen]
    with rc_context(_STYLE):
        _draw(table, folder / "wall", "wall, s", max(latencies))
        _draw(table, folder / "effective-tokens", "effective", max(latencies))
        _draw(table, folder / "cpu", "CPU ms a look-up", min(latencies))


def _draw(table: Table, path: Path, column: str, latency: int) -> None:
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)  # no global state, no window
    for axes, shape in zip(figure.subplots(1, 3, sharey=True), SHAPES, strict=True):
        chosen = [s for s in table.chosen if (s.runs, s.latency_ms, s.shape) == (1, latency, shape)]
        for at, name in enumerate(table.names):
            points = [(s.k, y) for s in chosen if (y := table.figure(column, name, s)) is not None]
            axes.plot([k for k, _ in points], [y for _, y in points], "-o", ms=3, color=f"C{at}", label=name)
        axes.set(xscale="log", yscale="log", xlabel=f"look-ups, {shape}, {latency} ms")
        axes.set_xticks([s.k for s in chosen], [str(s.k) for s in chosen])
        axes.minorticks_off()
    figure.axes[0].set_ylabel(column)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.savefig(path.with_suffix(".png"), dpi=150)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
