"""Draws docs/benchmarks.svg from the figures of peers.py: the speed-up over each peer, on a logarithmic axis.

Colours have about the same contrast on light and on dark pages, and nothing is painted behind them.
"""

import math

import report
from peers_table import PEERS, fastest_peer
from workloads import WORKLOADS, shown

FILE = report.PAGE.with_suffix(".svg")

THREADS = "2"
NAMES, LEFT, RIGHT, FIGURE, WIDTH = 216, 224, 718, 778, 890
TOP, ROW, GAP = 98, 24, 14
# Speed-ups beyond the ends of the axis are drawn there; their figures tell.
LEAST, MOST = 0.7, 70
TICKS = (1, 2, 5, 10, 20, 50)
TEXT, FASTER, SLOWER = "#757d88", "#1a9c87", "#d3703a"
COLOURS = {
    "torch-eager": "#e0533d",
    "torch-compiled": "#c98a12",
    "jax": "#3f86e0",
    "onnxruntime": "#9467d4",
    "openvino": "#d3559f",
}


def place(ratio):
    """Where a speed-up lies along the axis."""
    along = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + along * (RIGHT - LEFT)


def text(x, y, words, anchor="start", colour=TEXT, size=13, weight=400):
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>'


def line(x, y, other_y, width, opacity):
    style = f'stroke="{TEXT}" stroke-width="{width:g}" stroke-opacity="{opacity:g}"'
    return f'<path d="M{x:.1f} {y:.1f}V{other_y:.1f}" {style}/>'


def dot(x, y, peer):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{COLOURS[peer]}"/>'


def row(y, label, speed_ups):
    """One workload: its name, a bar to the fastest peer, a dot for each, and the fastest peer's figure."""
    fastest, least = min(speed_ups.items(), key=lambda pair: pair[1])
    colour = FASTER if least >= 1 else SLOWER
    start, end = sorted((place(1), place(least)))
    yield text(NAMES, y + 4.5, label, "end")
    bar = f'x="{start:.1f}" y="{y - 5}" width="{max(end - start, 1):.1f}" height="10"'
    yield f'<rect {bar} fill="{colour}" fill-opacity="0.45"/>'
    for peer, ratio in sorted(speed_ups.items(), key=lambda pair: -pair[1]):
        yield dot(place(ratio), y, peer)
    yield text(FIGURE, y + 4.5, report.speed_up(least, 1), "end", colour, weight=700)
    yield text(FIGURE + 10, y + 4.5, PEERS[fastest], size=12)


def legend(y):
    x = place(1) + 5
    for peer, title in PEERS.items():
        yield dot(x, y - 4, peer)
        yield text(x + 10, y, title, size=12)
        x += 30 + 8 * len(title)


def axis(bottom):
    for tick in TICKS:
        yield line(place(tick), TOP - 8, bottom, 1.5 if tick == 1 else 1, 0.9 if tick == 1 else 0.25)
        yield text(place(tick), bottom + 18, f"{tick:g}x", "middle", size=12)
    yield text(place(1) - 8, bottom + 36, "slower", "end", SLOWER, size=12)
    yield text(place(1) + 8, bottom + 36, "faster", "start", FASTER, size=12)


def picture(figures):
    """The whole file."""
    all_times = figures["times"].get(THREADS, {})
    y, parts, kind = TOP, [], None
    for name in shown():
        times = all_times.get(name, {})
        if "lucid-compiled" not in times or fastest_peer(times) is None:
            continue
        if WORKLOADS[name].kind != kind:
            y += GAP if kind else 0
            kind = WORKLOADS[name].kind
        speed_ups = {peer: times[peer] / times["lucid-compiled"] for peer in PEERS if peer in times}
        parts.extend(row(y + ROW / 2, WORKLOADS[name].label, speed_ups))
        y += ROW
    height = y + 46
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" role="img">',
        "<title>Speed-up of compiled Lucid over each peer, for each workload</title>",
        text(place(1), 24, "How much faster compiled Lucid is", size=18, weight=600),
        text(place(1), 46, f"time per call of each peer over ours, {THREADS} threads; bars end at the fastest peer"),
        *legend(72),
        text(FIGURE, TOP - 10, "over the fastest", "middle", size=12),
        *axis(y + 4),
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"
