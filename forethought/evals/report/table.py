"""The figures as a Markdown table, and in words what a reader must know to trust them."""

from __future__ import annotations

from collections.abc import Sequence

from forethought.evals.methods.ablations import ABLATIONS
from forethought.evals.report import mechanisms
from forethought.evals.report.rows import Figures, Row, reference
from forethought.evals.results import Run
from forethought.evals.statistics import Interval, Paired

HEAD = ("method", "samples", "score [95 %]", "floor", "tokens", "USD", "seconds", "steps", "not tried")


def cells(row: Row) -> tuple[str, ...]:
    """A method's line of the main table, as HEAD names the columns."""
    spend = row.spend
    mark = "*" if row.asked_outcome else ""
    trials = f" x {row.trials / row.samples:g}" if row.samples and row.trials != row.samples else ""
    return (
        row.method + mark,
        f"{row.samples}{trials}",
        interval(row.main),
        "" if row.floor is None else percent(row.floor),
        f"{spend.tokens:,.0f}",
        "?" if spend.usd is None else f"{spend.usd:.4f}",
        f"{spend.seconds:.1f}",
        f"{spend.steps:.1f}",
        str(row.infrastructure_failures),
    )


def markdown(run: Run, figures: Figures) -> str:
    """The whole report as Markdown."""
    parts = [f"# {run.title or run.benchmark}", "\n".join(notes(run, figures)), _main(figures)]
    parts += [text for text in (_metrics(figures), _groups(figures), _pass_k(figures)) if text]
    parts += [f"{head}:\n\n{table(mechanisms.HEAD, lines)}" for head, lines in mechanism_tables(figures)]
    if figures.paired:
        lines = [f"- {paired_text(one)}" for one in figures.paired]
        parts.append("\n".join(["Compared on the same samples:", "", *lines]))
    return "\n\n".join(parts) + "\n"


def notes(run: Run, figures: Figures) -> list[str]:
    """What the figures rest on."""
    choices = {**run.options, **{f"--set {key}": value for key, value in run.context.items()}}
    chosen = "".join(f"; {key} {value}" for key, value in sorted(choices.items()))
    budget = f"{run.budget.max_steps} steps and {run.budget.max_tokens:,} tokens per sample"
    lines = [
        f"Model {run.model}; {budget}; {run.trials} trial(s); seed {run.seed}{chosen}. "
        f"Score: {run.main_metric}, mean over samples, 95 % bootstrap interval. Tokens, USD and "
        "steps are means per trial; seconds are the median."
    ]
    if run.scripted:
        lines.append(
            "**The model is scripted: this shows how the mechanisms work, not what a model can do.**"
        )
    if any(row.asked_outcome for row in figures.rows):
        lines.append(
            "`*`: received the benchmark's verdict on its tries at these samples, as in its paper; "
            "the others did not."
        )
    methods = [row.method for row in figures.rows]
    if learned := [f"{name} {run.learned_for[name]:,}" for name in methods if name in run.learned_for]:
        lines.append(f"Tokens for learning from training samples (in no mean): {', '.join(learned)}.")
    alone = [n for n in methods if n.partition(" (")[0] in ABLATIONS and not reference(n, methods)]
    for base in dict.fromkeys(ABLATIONS[name.partition(" (")[0]].base for name in alone):
        own = [name for name in alone if ABLATIONS[name.partition(" (")[0]].base == base]
        lines.append(
            f"{base} is missing; compare {', '.join(own)} with it, since all other methods "
            "differ in more than one mechanism."
        )
    failed = sum(row.infrastructure_failures for row in figures.rows)
    if failed:
        lines.append(
            f"{failed} trial(s) had no working model, server or environment; they are in no mean. "
            "Repeat the `eval run` command to try them again."
        )
    unscored = sum(row.unscored for row in figures.rows)
    if unscored:
        lines.append(f"{unscored} answer(s) cannot be scored here; they are saved, but in no mean.")
    return lines


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    lines = [_line(head), _line([":--", *["--:"] * (len(head) - 1)]), *map(_line, rows)]
    return "\n".join(lines)


def _line(texts: Sequence[str]) -> str:
    clean = (" ".join(text.split()).replace("|", "\\|") for text in texts)
    return f"| {' | '.join(clean)} |"


def _main(figures: Figures) -> str:
    return table(HEAD, [cells(row) for row in figures.rows])


def _metrics(figures: Figures) -> str:
    names = list(dict.fromkeys(name for row in figures.rows for name in (*row.metrics, *row.summary)))
    if not names:
        return ""
    rows = [
        [row.method, *(interval(row.metrics.get(n)) or percent(row.summary.get(n)) for n in names)]
        for row in figures.rows
    ]
    return table(["method", *names], rows)


def _groups(figures: Figures) -> str:
    names = sorted({name for row in figures.rows for name in row.groups})
    if len(names) < 2:
        return ""
    head = ["group", *(row.method for row in figures.rows)]
    return table(head, [[name, *(_group(row.groups.get(name)) for row in figures.rows)] for name in names])


def mechanism_tables(figures: Figures) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Of each method of ours that is no ablation: a heading, and the lines of its mechanisms."""
    return [
        (
            f"What each mechanism of {row.method} cost (means per trial) and changed",
            [mechanisms.cells(one) for one in row.mechanisms],
        )
        for row in figures.rows
        if row.mechanisms and row.method.partition(" (")[0] not in ABLATIONS
    ]


def _group(found: Interval | None) -> str:
    return f"{interval(found)} (n={found.n})" if found else ""


def _pass_k(figures: Figures) -> str:
    if not any(row.pass_k for row in figures.rows):
        return ""
    most = max(len(row.pass_k) for row in figures.rows)
    head = ["method", *(f"{kind}{k}" for k in range(1, most + 1) for kind in ("pass@", "pass^"))]
    rows = [
        [row.method, *(percent(v) for _, at, hat in row.pass_k for v in (at, hat))] for row in figures.rows
    ]
    return table(head, [[*row, *[""] * (len(head) - len(row))] for row in rows])


def paired_text(one: Paired) -> str:
    """A comparison in words."""
    d = one.difference
    between = f" [{d.low * 100:+.1f}, {d.high * 100:+.1f}]" if d.how != "none" else ""
    test = "McNemar's exact test" if one.test == "mcnemar" else "permutation test"
    return (
        f"{one.other} minus {one.base}: {d.mean * 100:+.1f} points{between} over {d.n} samples; "
        f"better on {one.better}, worse on {one.worse}; {test}: p = {one.p:.3g}"
    )


def interval(found: Interval | None) -> str:
    """In per cent, with its bounds."""
    if found is None:
        return ""
    if found.how == "none":
        return percent(found.mean)
    return f"{percent(found.mean)} [{percent(found.low)}, {percent(found.high)}]"


def percent(value: float | None) -> str:
    """With one digit behind the point."""
    return "" if value is None else f"{value * 100:.1f}"
