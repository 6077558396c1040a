# SPDX-License-Identifier: MIT
"""README.md's picture: modelled times of these kernels (sim) beside times that others measured on cards and published.

    python3 bench/compare.py [--build DIR] [--only REGEX]    runs the bench, renews bench/data/compare.csv or rows of it, and prints a summary
    /usr/bin/python3 bench/compare.py --draw FILE            draws these rows as SVG (bench/compare.svg); needs matplotlib

Tables: decode, GB/s of weights and scales for one row of activations; prefill, TFLOP/s of 2048 rows; model, tokens per second by
bench/data/tokens.csv.
A row: the published figure (low, high), the modelled one (sim; decode: with error bars) and the bound by DRAM or WMMA, or 0.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import geometric_mean

import models

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "bench/data/compare.csv"
TOKENS = ROOT / "bench/data/tokens.csv"  # by tests/engines/tokens.py
HEAD = "# SPDX-License-Identifier: MIT\n# Modelled (sim) beside published. python3 bench/compare.py renews it.\n"
GROUP = 128
DECODE = "--suite decode --table published --uncertainty"
PREFILL = "--suite prefill --table published --dtype f16 --m 2048"
PREFILL_MODEL = "Qwen3-4B"  # a product takes a minute of a core


@dataclass(frozen=True)
class Row:
    table: str
    name: str
    peer: str
    low: float
    high: float
    sim: float
    sim_low: float
    sim_high: float
    bound: float = 0


def cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def table(head: str, kind: type, rows: Iterable) -> str:
    """Rows of a dataclass as CSV, behind these lines of comment."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(f.name for f in fields(kind))
    writer.writerows([cell(value) for value in astuple(each)] for each in rows)
    return head + out.getvalue()


def text(rows: list[Row]) -> str:
    return table(HEAD, Row, rows)


def data(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read() -> list[Row]:
    words = ("table", "name", "peer")
    return [Row(**{key: value if key in words else float(value) for key, value in line.items()}) for line in data(FILE)]


# ---- measured


def bench(build: Path, options: str, name: str) -> dict:
    """The one row of that name. Without error bars low and high are the time."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [build / "bin/nw_bench", "--device", "sim:gfx1151", *options.split(), "--only", f"^{name}$", "--json", file.name]
        subprocess.run(command, check=True, capture_output=True)
        [one] = json.loads(Path(file.name).read_text())["rows"]
        return {"time_low_us": one["time_us"], "time_high_us": one["time_us"]} | one


def rates(amount: float, one: dict) -> tuple[float, float, float]:
    """By the time, by the highest and by the lowest one."""
    return amount / one["time_us"], amount / one["time_high_us"], amount / one["time_low_us"]


def decode(build: Path, k: int, n: int) -> list[Row]:
    one = bench(build, DECODE, f"{k}x{n} g{GROUP} f16 sym m1")
    kilobytes = (n * k / 2 + 2 * n * k / GROUP) / 1e3  # weights and scales
    published = kilobytes / one["published_us"]
    return [Row("decode", f"{k}x{n}", "vLLM", published, published, *rates(kilobytes, one), 100 * one["gb_per_s"] / one["pct_of_bound"])]


def prefill(build: Path, k: int, n: int) -> list[Row]:
    one = bench(build, PREFILL, f"{k}x{n} f16 zp m2048")
    published = one["published_tuned_tflops"]
    return [Row("prefill", f"{k}x{n}", "Triton", published, published, *rates(one["tflops"] * one["time_us"], one), 100 * one["tflops"] / one["pct_of_wmma_peak"])]


def tokens() -> dict[str, float]:
    """Tokens per second of the models "NAME FILE PART" whose whole tokens were timed."""
    return {f"{line['model']} {line['file']} {line['part']}": 1000 / float(line["ms"]) for line in data(TOKENS)}


def model(line: dict[str, str], name: str, ours: float) -> Row:
    return Row("model", name, f"llama.cpp, {line['backend']}", float(line["low"]), float(line["high"]), ours, ours, ours)


Job = Callable[[Path], list[Row]]


def jobs() -> Iterator[tuple[str, Job]]:
    """Products and models with published figures: the name for --only, and the function that measures it."""
    for line in data(ROOT / "bench/data/decode_gfx1151.csv"):
        if [line[key] for key in ("group", "dtype", "zeros", "m", "kernel")] == [str(GROUP), "f16", "sym", "1", "wvsplitk_int4"]:
            yield f"decode {line['k']}x{line['n']}", lambda build, k=int(line["k"]), n=int(line["n"]): decode(build, k, n)
    for line in data(ROOT / "bench/data/prefill_gfx1151.csv"):
        if line["model"].startswith(PREFILL_MODEL):
            yield f"prefill {line['k']}x{line['n']}", lambda build, k=int(line["k"]), n=int(line["n"]): prefill(build, k, n)
    published = [(f"{line['model']} {line['file']} {line['part']}", line) for line in models.published() if models.is_of(line, "tg")]
    for name, ours in tokens().items():
        if lines := [line for other, line in published if other == name]:
            yield f"model {name}", lambda _, name=name, ours=ours, lines=lines: [model(line, name, ours) for line in lines]


def measure(build: Path, only: str) -> list[Row]:
    chosen = [run for name, run in jobs() if re.search(only, name)]
    if not chosen:
        sys.exit(f"--only {only}: no product or model has such a name")
    with ThreadPoolExecutor(2) as pool:
        return [each for rows in pool.map(lambda run: run(build), chosen) for each in rows]


def renewed(old: list[Row], new: list[Row]) -> list[Row]:
    """Rows of the same table, name and peer are replaced."""
    return list({(row.table, row.name, row.peer): row for row in [*old, *new]}.values())


# ---- printed

PEERS = {
    ("decode", "vLLM"): "vLLM's HIP kernel, 8060S | W4A16 products, 1 token",
    ("prefill", "Triton"): "Triton, tuned, 8060S | Qwen3-4B's W4A16 products, 2048 tokens",
    ("model", "llama.cpp, HIP"): "llama.cpp, HIP, 8060S and 7900 XTX | whole models, 1 token at a time",
    ("model", "llama.cpp, Vulkan"): "llama.cpp, Vulkan, 8060S and 7900 XTX | the same",
}


def summary(rows: list[Row]) -> list[str]:
    """A table of Markdown: modelled by published rate. Where a range is published, by its upper end."""
    out = ["| published | of | figures | nibblewave (sim) by it: geometric mean | least to most |", "|---|---|---|---|---|"]
    for (table, peer), words in PEERS.items():
        ratios = [row.sim / row.high for row in rows if (row.table, row.peer) == (table, peer)]
        if ratios:
            out.append(f"| {words} | {len(ratios)} | {geometric_mean(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} |")
    return out


# ---- drawn

INK, OURS, THEIRS, OTHERS = "#7a8088", "#2f81d8", "#d9731a", "#a8871c"  # readable on white and on black
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "nibblewave", "font.size": 10, "font.family": "sans-serif", "axes.titlesize": 11, "axes.spines.top": False, "axes.spines.right": False,
            **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)}  # fmt: skip


def mib(row: Row) -> float:
    k, n = map(int, row.name.split("x"))
    return n * k / 2 / 2**20


def marks(axes, rows: list[Row], places: list[float], color: str, shape: str, ours: bool, label: str, upright: bool = False) -> None:
    """A mark for each row, with a line from its low to its high."""
    values = [(row.sim_low, row.sim, row.sim_high) if ours else (row.low, (row.low + row.high) / 2, row.high) for row in rows]
    middle = [value for _, value, _ in values]
    spread = [[max(value - low, 0) for low, value, _ in values], [max(high - value, 0) for _, value, high in values]]
    where = {"x": places, "y": middle, "yerr": spread} if upright else {"x": middle, "y": places, "xerr": spread}
    axes.errorbar(**where, fmt=shape, color=color, markersize=5.5, elinewidth=1.5, label=label)


def bound(axes, rows: list[Row], upright: bool, label: str) -> None:
    """A dashed line, with its name at the end."""
    at, style = rows[0].bound, {"color": INK, "linewidth": 0.8, "linestyle": "--"}
    if upright:
        axes.axhline(at, **style)
        axes.text(0.02, at, label, transform=axes.get_yaxis_transform(), va="bottom", fontsize=8)
    else:
        axes.axvline(at, **style)
        axes.text(at, 0.5, label, transform=axes.get_xaxis_transform(), ha="right", va="center", rotation=90, fontsize=8)


def draw_decode(axes, rows: list[Row]) -> None:
    rows = sorted(rows, key=mib)
    marks(axes, rows, [mib(row) for row in rows], THEIRS, "s", False, "published, on a card", upright=True)
    marks(axes, rows, [mib(row) for row in rows], OURS, "o", True, "nibblewave, sim", upright=True)
    bound(axes, rows, True, "DRAM")
    axes.set(xscale="log", xlabel="weights, MiB", ylabel="GB/s", ylim=(0, 1.12 * rows[0].bound), title="vLLM's HIP kernel, 8060S\nW4A16, 1 token")
    axes.set_xticks([1, 4, 16, 64], ["1", "4", "16", "64"])
    axes.minorticks_off()


def draw_prefill(axes, rows: list[Row]) -> None:
    places = [float(place) for place in range(len(rows))]
    marks(axes, rows, places, THEIRS, "s", False, "")
    marks(axes, rows, places, OURS, "o", True, "")
    bound(axes, rows, False, "WMMA")
    axes.set(xlim=(0, 1.05 * rows[0].bound), xlabel="TFLOP/s", title="Triton, tuned, 8060S\nQwen3-4B, 2048 tokens, K x N")
    axes.set_yticks(places, [row.name for row in rows])
    axes.invert_yaxis()


def draw_model(axes, rows: list[Row]) -> None:
    places = {name: float(place) for place, name in enumerate(dict.fromkeys(row.name for row in rows))}
    for peer, color, shape, label in (("llama.cpp, HIP", THEIRS, "s", ""), ("llama.cpp, Vulkan", OTHERS, "D", "published, by Vulkan")):
        of_peer = [row for row in rows if row.peer == peer]
        marks(axes, of_peer, [places[row.name] for row in of_peer], color, shape, False, label)
    once = list({row.name: row for row in rows}.values())
    marks(axes, once, [places[row.name] for row in once], OURS, "o", True, "")
    axes.set(xlabel="tokens/s", ylim=(len(places) - 0.5, -0.5), title="llama.cpp\nwhole models, 1 token at a time")
    axes.set_xlim(left=0)
    axes.set_yticks(list(places.values()), [re.sub(r" (Q\S+) ", r"\n\1, ", name) for name in places])


def picture(rows: list[Row]) -> str:
    """SVG without a background."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("bench/compare.py --draw: this Python has no matplotlib: install python3-matplotlib, then run it by /usr/bin/python3")
    matplotlib.use("svg")
    from matplotlib import pyplot

    with matplotlib.rc_context(SETTINGS):
        figure, each = pyplot.subplots(1, 3, figsize=(11, 4.2), gridspec_kw={"width_ratios": (1.1, 1, 1)})
        for axes, table, draw in zip(each, ("decode", "prefill", "model"), (draw_decode, draw_prefill, draw_model)):
            draw(axes, [row for row in rows if row.table == table])
            axes.grid(alpha=0.25)
        legend = {label: handle for axes in each for handle, label in zip(*axes.get_legend_handles_labels())}
        figure.legend(legend.values(), legend.keys(), loc="lower center", ncol=3, frameon=False)
        figure.tight_layout(rect=(0, 0.07, 1, 1))
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows to renew: decode KxN, prefill KxN, model NAME FILE PART; default: all")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="measure nothing: draw the rows as SVG")
    options = parser.parse_args()
    if options.draw:
        options.draw.write_text(picture(read()))
    else:
        new = measure(options.build, options.only)
        rows = renewed(read(), new) if options.only else new
        FILE.write_text(text(rows))
        print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
