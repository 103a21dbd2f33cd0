"""What a run came to, as Markdown: the whole table, and the ratios that the project holds itself to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from genai_prices import Usage, calc_price

from benchmarks.peers.grid import CONTENDERS, FLOOR, PEER, SEQUENTIAL, Cell, Setting

Json = dict[str, Any]
CACHED, PRICED = 0.1, "gpt-4.1"
"""What a cached token counts of one that is read anew, and the model whose price is the provider's."""
_BEGIN, _END = "<!-- figures -->", "<!-- /figures -->"
NO_FIGURE = "n/a"


@dataclass(frozen=True)
class Row:
    """A cell's figures, for each run where they are not the process's."""

    contender: str
    setting: Setting
    figures: Json

    @property
    def failed(self) -> str:
        """Why it does not count; '' if it does."""
        return str(self.figures["failed"])

    def each(self, name: str) -> float:
        """A sum's share of one run."""
        return float(self.figures[name]) / self.setting.runs

    @property
    def wall_s(self) -> float:
        """Seconds until all runs had ended."""
        return float(self.figures["wall_s"])

    @property
    def tokens(self) -> float:
        """Tokens of a run, in and out."""
        return self.each("input_tokens") + self.each("output_tokens")

    @property
    def effective(self) -> float:
        """The same, with cached ones at a tenth."""
        return self.tokens - (1 - CACHED) * self.each("cached_tokens")

    @property
    def usd(self) -> float:
        """Dollars of a run at the provider's price for cached tokens and others."""
        names = {
            "input_tokens": "input_tokens",
            "cache_read_tokens": "cached_tokens",
            "output_tokens": "output_tokens",
        }
        usage = Usage(**{key: round(self.each(name)) for key, name in names.items()})
        return float(calc_price(usage, model_ref=PRICED, provider_id="openai").total_price)

    @property
    def cpu_ms(self) -> float:
        """Processor time of a look-up, the client's side alone."""
        return 1000 * self.each("cpu_s") / self.setting.k

    @property
    def rate(self) -> float:
        """Look-ups a second, over all runs."""
        return self.setting.runs * self.setting.k / self.wall_s

    @property
    def trips_ratio(self) -> float:
        """Wall time against that of its own round trips, of which the model's latency is all."""
        return self.wall_s / (self.each("round_trips") * self.setting.latency_ms / 1000)


Measure = Callable[[Row], float]
COLUMNS: dict[str, Callable[[Row], str]] = {
    "wall, s": lambda row: f"{row.wall_s:.2f}",
    "model calls": lambda row: f"{row.each('calls'):.0f}",
    # Without latency, requests side by side seem to follow one another.
    "round trips": lambda row: f"{row.each('round_trips'):.0f}" if row.setting.latency_ms else NO_FIGURE,
    "tokens": lambda row: f"{row.tokens:,.0f}",
    "effective": lambda row: f"{row.effective:,.0f}",
    "US cents": lambda row: f"{100 * row.usd:.2f}",
    "CPU ms a look-up": lambda row: f"{row.cpu_ms:.1f}",
    "look-ups a second": lambda row: f"{row.rate:.1f}",
    "peak MB": lambda row: f"{row.figures['peak_mb']:.0f}",
    "KB sent": lambda row: f"{row.each('bytes') / 1000:.0f}",
}
RATIOS: dict[str, Measure] = {
    "wall": attrgetter("wall_s"),
    "effective": attrgetter("effective"),
    "CPU": attrgetter("cpu_ms"),
}


class Table:
    """All that was measured."""

    def __init__(self, results: Json, chosen: Sequence[Setting], names: Sequence[str]) -> None:
        self.results, self.chosen, self.names = results, chosen, names
        self.cells = {
            Cell(c["contender"], Setting(c["runs"], c["latency_ms"], c["shape"], c["k"])): c
            for c in results["cells"]
        }

    def row(self, contender: str, setting: Setting) -> Row | None:
        """A contender's figures; None where it was not measured."""
        figures = self.cells.get(Cell(contender, setting).measured)
        return Row(contender, setting, figures) if figures else None

    def ratio(self, measure: Measure, row: Row | None, to: str) -> float | None:
        """A figure against the same of another contender; None where one of them is missing or failed."""
        other = row and self.row(to, row.setting)
        if row is None or not other or row.failed or other.failed:
            return None
        return measure(row) / measure(other)

    def whole(self) -> str:
        """Every setting with its contenders, as they were measured."""
        parts = [self.head(), self.imports()]
        heads = ["", *COLUMNS, *(f"{name} : {to}" for to in (FLOOR, PEER) for name in RATIOS)]
        for setting in self.chosen:
            rows = []
            own = [name for name in self.names if Cell(name, setting).measured.contender == name]
            for row in filter(None, (self.row(name, setting) for name in own)):
                if row.failed:
                    rows.append([row.contender, f"failed: {row.failed}".replace("|", "/").replace("\n", " ")])
                    continue
                ratios = [self.ratio(m, row, to) for to in (FLOOR, PEER) for m in RATIOS.values()]
                rows.append([row.contender, *(show(row) for show in COLUMNS.values()), *map(_times, ratios)])
            runs = "1 run" if setting.runs == 1 else f"{setting.runs} runs at once"
            parts += [
                f"## {setting.shape}, K = {setting.k}, {setting.latency_ms} ms, {runs}",
                _table(heads, rows),
            ]
        return "\n\n".join(parts) + "\n"

    def head(self) -> str:
        """Where it was measured."""
        machine = self.results["machine"]
        packages = ", ".join(f"{name} {text}" for name, text in machine["packages"].items())
        where = f"{machine['system']}, Python {machine['python']}, {machine['cores']} cores"
        load = f"a load of {machine['load']} before it began"
        kind = "The small grid" if self.results["quick"] else "The whole grid"
        return f"{kind}, {machine['at']}, {self.results['minutes']} minutes. {where}, {load}. {packages}."

    def imports(self) -> str:
        """What it takes to import each framework."""
        names = {module: name.partition(",")[0] for name, (module, _) in reversed(CONTENDERS.items())}
        rows = [
            [names[module].replace("CodeAgent", "smolagents"), *map(_seconds, (t["wall_s"], t["cpu_s"]))]
            for module, t in self.results["imports"].items()
        ]
        return _table(["import", "wall, s", "CPU, s"], rows)

    def summary(self) -> str:
        """Ours by shape and size: tokens and CPU against create_agent, wall time with the slowest model
        against the bare loop and against the latency of its own round trips."""
        ours = [name for name in self.names if name.startswith("ours")]
        single = [setting for setting in self.chosen if setting.runs == 1]
        fast, slow = (which(setting.latency_ms for setting in single) for which in (min, max))
        rows = []
        for title, measure, to, latency in (
            (f"effective tokens : {PEER}", attrgetter("effective"), PEER, slow),
            (f"effective tokens : {SEQUENTIAL}", attrgetter("effective"), SEQUENTIAL, slow),
            (f"CPU a look-up : {PEER}", attrgetter("cpu_ms"), PEER, fast),
            (f"CPU a look-up : {SEQUENTIAL}", attrgetter("cpu_ms"), SEQUENTIAL, fast),
            (f"wall, {slow} ms : {FLOOR}", attrgetter("wall_s"), FLOOR, slow),
            (f"wall, {slow} ms : its round trips", attrgetter("trips_ratio"), "", slow),
        ):
            for setting in single:
                same = to and Cell(to, setting).measured.contender != to
                if setting.latency_ms == latency and not same:
                    shown = [self._cell(measure, name, setting, to) for name in ours]
                    rows.append([title, f"{setting.shape}, K = {setting.k}", *shown])
        for setting in self.chosen:
            if setting.runs > 1:
                what = f"{setting.shape}, K = {setting.k}, {setting.runs} at once, {setting.latency_ms} ms"
                shown = [self._cell(attrgetter("rate"), name, setting, PEER) for name in ours]
                rows.append([f"look-ups a second : {PEER}", what, *shown])
        return _table(["ratio", "shape", *ours], rows)

    def _cell(self, measure: Measure, name: str, setting: Setting, to: str) -> str:
        row = self.row(name, setting)
        if row is not None and row.failed:
            return "failed"
        if to:
            return _times(self.ratio(measure, row, to))
        return _times(measure(row) if row else None)


def write_docs(table: Table, path: Path) -> None:
    """Put the ratios in place of those that the page shows."""
    text = path.read_text("utf-8")
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    figures = "\n\n".join([table.head(), table.summary(), table.imports()])
    path.write_text(f"{before}{_BEGIN}\n{figures}\n{_END}{after}", "utf-8")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [list(heads), ["---", *["---:"] * (len(heads) - 1)]]
    lines += [[*row, *[""] * (len(heads) - len(row))] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _times(ratio: float | None) -> str:
    return NO_FIGURE if ratio is None else f"{ratio:.2f}"


def _seconds(value: float | None) -> str:
    return NO_FIGURE if value is None else f"{value:.2f}"
