# SPDX-License-Identifier: MIT
"""An HTML page of the JSON of `nw_bench --suite decode` or `stride`: plots and all rows.

    /usr/bin/python3 bench/report.py decode.json decode.html

Needs matplotlib (Debian's python3-matplotlib, which setup.sh installs along with the rest).
"""

from __future__ import annotations

import html
import io
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

try:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot
except ImportError:
    sys.exit("bench/report.py: this Python has no matplotlib: install python3-matplotlib, then run it by /usr/bin/python3")

Row = dict
MARKERS = {1: "o", 2: "s", 3: "v", 4: "D", 5: "<", 6: ">", 7: "P", 8: "^"}
TABLES = {
    "published": "Beside published times",
    "shapes": "Linear layers",
    "model": "A token's linear layers",
    "ablations": "What each idea is worth",
    "scan": "Bytes between rows of weights",
}
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; font-size: 13px } td, th { padding: 2px 9px; text-align: right }
th { border-bottom: 1px solid #888 } tr:nth-child(even) td { background: #f4f4f4 }
figure { margin: 1em 0 } svg { max-width: 100%; height: auto } summary { cursor: pointer }
.wide { overflow-x: auto }
"""


def svg(draw: Callable, width: float = 9, height: float = 4.2) -> str:
    figure, axes = pyplot.subplots(figsize=(width, height))
    draw(axes)
    axes.grid(alpha=0.3)
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    return "<figure>" + text.getvalue()[text.getvalue().index("<svg") :] + "</figure>"


def mib(row: Row) -> float:
    return row["n"] * row["k"] / 2 / 2**20


def scatter(axes, rows: Iterable[Row], value: Callable[[Row], float], label: Callable[[Row], str]) -> None:
    series: dict[str, list[Row]] = {}
    for row in rows:
        series.setdefault(label(row), []).append(row)
    for name, of_series in series.items():
        axes.plot(
            [mib(r) for r in of_series], [value(r) for r in of_series],
            MARKERS[of_series[0].get("m", 1)], label=name, markersize=5, alpha=0.75,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlabel("weights, MiB")
    axes.legend(fontsize=8, ncols=2)


def plot_published(rows: list[Row]) -> str:
    def draw(axes):
        scatter(axes, rows, lambda r: r["speedup"],
                lambda r: f"m{r['m']}, " + ("Triton" if r["published_kernel"] == "triton" else "published kernel"))  # fmt: skip
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_ylabel("published time by ours (sim)")

    return svg(draw)


def plot_shapes(rows: list[Row]) -> str:
    def bound(axes):
        scatter(axes, rows, lambda r: r["pct_of_bound"], lambda r: f"m{r['m']}")
        axes.set_ylabel("% of the DRAM bound (sim)")

    def batch(axes):
        scatter(axes, [r for r in rows if r.get("of_m1") and r["m"] > 1], lambda r: r["of_m1"], lambda r: f"m{r['m']}")
        axes.set_ylabel("time by that of m1 (sim)")

    return svg(bound) + (svg(batch) if any(r.get("of_m1") and r["m"] > 1 for r in rows) else "")


def plot_bars(rows: list[Row], name: Callable[[Row], str], value: str, axis: str) -> str:
    def draw(axes):
        axes.barh([name(r) for r in rows], [r[value] for r in rows], height=0.7)
        axes.invert_yaxis()
        axes.set_xlabel(axis)

    return svg(draw, height=0.6 + 0.24 * len(rows))


def plot_ablations(rows: list[Row]) -> str:
    """Plots of each type: cost of leaving out each idea, a bar for each size: time and VALU slots."""
    types: dict[str, list[Row]] = {}
    for row in rows:
        if row["without"]:
            types.setdefault(f"{row['dtype']} m{row['m']}", []).append(row)
    more = [
        ("% more time without it (sim), logarithmic from 10", lambda r: 100 * (r["time_ratio"] - 1), 10),
        ("VALU slots per 8 weights more without it", lambda r: r["valu_slots_per_8w"] - r["slots_with"], None),
    ]
    return "".join(
        grouped_bars(of_type, f"{name}: {axis}", value, linear_to) for name, of_type in sorted(types.items()) for axis, value, linear_to in more
    )  # fmt: skip


def grouped_bars(rows: list[Row], axis: str, value: Callable[[Row], float], linear_to: float | None) -> str:
    ideas = list(dict.fromkeys(row["without"] for row in rows))
    sizes = list(dict.fromkeys((row["k"], row["n"]) for row in rows))
    thick = 0.8 / len(sizes)

    def draw(axes):
        for i, size in enumerate(sizes):
            of_size = [r for r in rows if (r["k"], r["n"]) == size]
            axes.barh([ideas.index(r["without"]) + thick * i for r in of_size], [value(r) for r in of_size],
                      height=thick, label=f"{size[0]}x{size[1]}")  # fmt: skip
        axes.set_yticks([i + thick * (len(sizes) - 1) / 2 for i in range(len(ideas))], ideas)
        axes.invert_yaxis()
        if linear_to:
            axes.set_xscale("symlog", linthresh=linear_to)
        axes.set_xlabel(axis)
        axes.legend(fontsize=7)

    return svg(draw, height=0.8 + 0.4 * len(ideas))


def plot_scan(rows: list[Row]) -> str:
    series: dict[str, list[Row]] = {}
    for row in rows:
        series.setdefault(f"{row['gfx']} {row['k']}x{row['n']}", []).append(row)

    def draw(axes):
        for name, of_series in series.items():
            axes.plot([r["pad"] for r in of_series], [r["speedup"] for r in of_series], ".-", label=name)
        axes.set_xlabel("bytes after each row")
        axes.set_ylabel("speedup over none (sim)")
        axes.legend(fontsize=7, ncols=2)

    return svg(draw)


def plots(table: str, rows: list[Row]) -> str:
    if table == "published" and "published_us" in rows[0]:
        return plot_published(rows)
    if table == "shapes":
        return plot_shapes(rows)
    if table == "scan":
        return plot_scan(rows)
    if table == "model":
        return plot_bars(rows, lambda r: f"{r['model']} {r['dtype']} {r['zp']} m{r['m']}",
                         "linears_tok_per_s", "tokens a second, linear layers alone (sim)")  # fmt: skip
    if table == "ablations":
        return plot_ablations(rows)
    return ""


def cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))


def as_table(rows: list[Row]) -> str:
    keys = list(dict.fromkeys(key for row in rows for key in row if key != "table"))
    lines = ["".join(f"<th>{html.escape(key)}</th>" for key in keys)]
    for row in rows:
        lines.append("".join(f"<td>{cell(row.get(key, ''))}</td>" for key in keys))
    return '<div class="wide"><table>' + "".join(f"<tr>{line}</tr>" for line in lines) + "</table></div>"


def page(run: dict) -> str:
    title = f"nibblewave, suite {run['suite']}, {run['device']}"
    parts = [f"<h1>{html.escape(title)}</h1><p>commit {html.escape(run['commit'] or 'unknown')}; all times are modelled</p>"]
    tables: dict[str, list[Row]] = {}
    for row in run["rows"]:
        tables.setdefault(row.get("table", "rows"), []).append(row)
    for name in [*(t for t in TABLES if t in tables), *(t for t in tables if t not in TABLES)]:
        rows = tables[name]
        parts.append(f"<h2>{html.escape(TABLES.get(name, name))}</h2>{plots(name, rows)}")
        parts.append(f"<details><summary>{len(rows)} rows</summary>{as_table(rows)}</details>")
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title><style>{STYLE}</style>' + "".join(parts) + "</html>\n"  # fmt: skip


def main(source: str, target: str) -> None:
    Path(target).write_text(page(json.loads(Path(source).read_text())))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
