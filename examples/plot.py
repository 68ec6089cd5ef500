"""Plots a curve as an SVG file, using only the standard library."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 44, 52


def smoothed(values: Sequence[float], weight: float = 0.98) -> list[float]:
    """Exponential moving average with bias correction."""
    result, total, mass = [], 0.0, 0.0
    for value in values:
        total = weight * total + (1 - weight) * value
        mass = weight * mass + (1 - weight)
        result.append(total / mass)
    return result


def _ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Returns round numbers between low and high."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(s - raw))
    first = math.ceil(low / step) * step
    return [first + i * step for i in range(count * 3) if low <= first + i * step <= high]


def save_curve(path: pathlib.Path, values: Sequence[float], *, title: str, x: str, y: str) -> None:
    """Writes an SVG of the values (light) and their moving average (dark)."""
    mean = smoothed(values)
    shown = sorted(values)[: max(1, int(0.995 * len(values)))]  # clip the first few large losses
    low, high = min(0.0, shown[0]), shown[-1] * 1.05 or 1.0

    def place(i: float, value: float) -> tuple[float, float]:
        across = LEFT + i / max(1, len(values) - 1) * (WIDTH - LEFT - RIGHT)
        up = HEIGHT - BOTTOM - (min(value, high) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return across, up

    def line(points: Sequence[float], style: str) -> str:
        path_data = " ".join("{:.1f},{:.1f}".format(*place(i, value)) for i, value in enumerate(points))
        return f'<polyline fill="none" {style} points="{path_data}"/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="26" font-size="16">{escape(title)}</text>',
    ]
    for tick in _ticks(low, high):
        height = place(0, tick)[1]
        parts.append(f'<path d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in _ticks(0, max(1, len(values) - 1)):
        across = place(tick, low)[0]
        parts.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{tick:g}</text>')
    parts.append(line(values, 'stroke="#9db8d9" stroke-width="0.8"'))
    parts.append(line(mean, 'stroke="#1f4e8c" stroke-width="2"'))
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x)}</text>')
    parts.append(f'<text x="16" y="{TOP - 8}">{escape(y)}</text>')
    path.write_text("\n".join([*parts, "</svg>\n"]))
