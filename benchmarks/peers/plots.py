"""The plots of a run, as SVG and PNG."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import Any

from benchmarks.peers.grid import Setting
from benchmarks.peers.report import Measure, Table
from benchmarks.peers.task import SHAPES

_COLOURS = (
    "#666666",
    "#d1661f",
    "#e5b08a",
    "#12365e",
    "#1f5fa8",
    "#7fb0e0",
    "#3a8f4d",
    "#9ccfa8",
    "#a33a6f",
    "#d99dbb",
)
_STYLE = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "peers",
}


def draw(table: Table, folder: Path) -> None:
    """Draw each measure over K, by shape, and look-ups a second over the runs at once."""
    from matplotlib import rc_context

    slowest = max(setting.latency_ms for setting in table.chosen)
    fastest = min(setting.latency_ms for setting in table.chosen)
    with rc_context(_STYLE):
        for name, label, measure, latency in (
            ("wall", f"seconds, model of {slowest} ms", attrgetter("wall_s"), slowest),
            ("effective-tokens", "effective tokens", attrgetter("effective"), fastest),
            ("cpu", "CPU ms a look-up", attrgetter("cpu_ms"), fastest),
        ):
            _over_k(table, folder / name, label, measure, latency)
        _over_runs(table, folder / "runs-at-once")


def _over_k(table: Table, path: Path, label: str, measure: Measure, latency: int) -> None:
    figure = _figure(9)
    for axes, shape in zip(figure.subplots(1, 3, sharey=True), SHAPES, strict=True):
        chosen = [s for s in table.chosen if (s.runs, s.latency_ms, s.shape) == (1, latency, shape)]
        for at, name in enumerate(table.names):
            points = _points(table, name, chosen, measure)
            axes.plot(
                [s.k for s, _ in points], [y for _, y in points], "-o", ms=3, color=_colour(at), label=name
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(
            sorted({s.k for s in chosen}), [str(k) for k in sorted({s.k for s in chosen})], minor=False
        )
        axes.minorticks_off()
        axes.set_xlabel(f"look-ups, {shape}")
    figure.axes[0].set_ylabel(label)
    _save(figure, path)


def _over_runs(table: Table, path: Path) -> None:
    figure = _figure(9)
    axes = figure.subplots()
    chosen = [s for s in table.chosen if s.runs > 1]
    drawn = [name for name in table.names if any(table.row(name, setting) for setting in chosen)]
    width = 0.8 / len(drawn)
    for at, name in enumerate(drawn):
        points = _points(table, name, chosen, attrgetter("rate"))
        places = [chosen.index(s) + at * width for s, _ in points]
        axes.bar(places, [y for _, y in points], width, color=_colour(table.names.index(name)), label=name)
    axes.set_xticks(
        [n + 0.4 for n in range(len(chosen))], [f"{s.runs} runs, {s.shape}, K = {s.k}" for s in chosen]
    )
    axes.set_ylabel("look-ups a second")
    _save(figure, path)


def _points(table: Table, name: str, chosen: list[Setting], measure: Measure) -> list[tuple[Setting, float]]:
    rows = [row for setting in chosen if (row := table.row(name, setting)) and not row.failed]
    return [(row.setting, measure(row)) for row in rows]


def _figure(width: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: Path) -> None:
    lines = {label: line for line, label in zip(*figure.axes[0].get_legend_handles_labels(), strict=True)}
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path.with_suffix(".png"), dpi=150)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def _colour(at: int) -> str:
    return _COLOURS[at % len(_COLOURS)]
