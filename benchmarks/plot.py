"""Draws docs/benchmarks.svg from the figures of peers.py: our time over that of the best peer, on a logarithmic axis.

Colours have the same contrast on light and on dark pages, and nothing is painted behind them.
"""

import math

import report
from peers_table import PEERS, compared
from workloads import WORKLOADS, shown

FIGURES = report.PAGE.with_suffix(".json")
FILE = report.PAGE.with_suffix(".svg")

THREADS = "2"
LEFT, RIGHT, TOP, ROW = 150, 670, 66, 22
FIGURE, BESIDE, WIDTH = 725, 745, 850
# Bars that are longer end at the axis's end; their figures tell.
TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
LEAST, MOST = TICKS[0], TICKS[-1]
TEXT = "#7a828c"
MET, MISSED, NO_AIM = "#2a9d8f", "#d9822b", "#6c8ebf"


def place(ratio):
    """Where a ratio lies along the axis."""
    along = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + along * (RIGHT - LEFT)


def text(x, y, words, anchor="start", colour=TEXT, size=12, weight=400):
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>'


def line(x, y, other_y, width, style=""):
    return f'<path d="M{x:.1f} {y:.1f}V{other_y:.1f}" stroke="{TEXT}" stroke-width="{width:g}"{style}/>'


def bar(y, name, peer, ratio):
    """One workload: its name, its bar from the left, its figure, and the mark of what was aimed for."""
    aim = WORKLOADS[name].at_most
    colour = NO_AIM if aim is None else MET if ratio <= aim else MISSED
    length, base = max(place(ratio) - LEFT, 1), y + ROW / 2 + 4
    yield text(LEFT - 10, base, name, "end")
    yield f'<rect x="{LEFT}" y="{y + 4}" width="{length:.1f}" height="{ROW - 8}" rx="2" fill="{colour}"/>'
    if aim is not None:
        yield line(place(aim), y + 1, y + ROW - 1, 2.5)
    yield text(FIGURE, base, f"{ratio:.2f}", "end", colour, weight=600)
    yield text(BESIDE, base, PEERS[peer], size=11)


def legend(y):
    x = LEFT
    for colour, words in ((MET, "aim met"), (MISSED, "aim missed"), (NO_AIM, "no aim")):
        yield f'<rect x="{x}" y="{y - 9}" width="12" height="10" rx="2" fill="{colour}"/>'
        yield text(x + 18, y, words, size=11)
        x += 100
    yield line(x + 4, y - 11, y + 3, 2.5)
    yield text(x + 14, y, "aimed for at most", size=11)


def picture(figures):
    """The whole file."""
    all_times = figures["times"].get(THREADS, {})
    ratios = {name: compared(name, all_times[name]) for name in shown() if name in all_times}
    found = {name: pair for name, pair in ratios.items() if pair[1] is not None}
    bottom = TOP + ROW * len(found)
    height = bottom + 52
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" role="img">',
        "<title>Time of compiled Lucid over the time of the fastest peer, for each workload</title>",
        text(LEFT, 20, "Time of a compiled call over that of the fastest peer", size=15, weight=600),
        text(LEFT, 40, f"{THREADS} threads; shorter is better; the axis is logarithmic"),
        text(FIGURE, TOP - 10, "ratio", "end", size=11),
        text(BESIDE, TOP - 10, "beside", size=11),
    ]
    for tick in TICKS:
        if tick != 1:
            parts.append(line(place(tick), TOP - 4, bottom + 2, 1, ' stroke-opacity="0.25"'))
        parts.append(text(place(tick), bottom + 17, f"{tick:g}", "middle", size=11))
    for index, (name, (peer, ratio)) in enumerate(found.items()):
        parts.extend(bar(TOP + ROW * index, name, peer, ratio))
    parts.append(line(place(1.0), TOP - 6, bottom + 4, 1.5, ' stroke-dasharray="4 3"'))
    parts.extend(legend(height - 12))
    return "\n".join([*parts, "</svg>"]) + "\n"
