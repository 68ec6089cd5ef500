"""A drawing of a plan: a box for each step, in it a row for each kernel that the step takes its work through, and in
each row the memory that it reads and writes. Lines lead from what a step writes to the steps that read it.

Colours have the same contrast on light and on dark pages, and nothing is painted behind them.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from .. import _core

_TEXT, _FRAME = "#7a828c", "#9aa3ad"
_COLOURS = {
    "input": "#3b82c4",
    "output": "#2a9d8f",
    "memory": "#d9822b",
    "packed": "#8b6fb8",
    "checks": "#b05a6a",
    "local": "#7a828c",
}
_PREFIX = {"input": "in", "output": "out"}
_LEFT, _TOP, _ROW, _GAP, _PAD = 16, 16, 20, 18, 10
_CHARACTER = 7.3  # of the font below, at its size
_FONT = 'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12"'


class Location(NamedTuple):
    """Memory that a kernel reads or writes."""

    kind: str
    name: str


class Stage(NamedTuple):
    """One of the kernels that a step takes its work through."""

    name: str
    reads: list[Location]
    writes: list[Location]


class Step(NamedTuple):
    """A step of the plan; its launches run together."""

    name: str
    tiles: int
    launches: int
    stages: list[Stage]


def steps_of(program: _core.Program) -> list[Step]:
    memory: dict[int, int] = {}

    def location(slot: tuple[str, int, int]) -> Location:
        kind, index, offset = slot
        if kind == "checks":
            return Location(kind, kind)
        number = memory.setdefault(offset, len(memory)) if kind == "memory" else index
        return Location(kind, f"{_PREFIX.get(kind, kind)}{number}")

    steps = []
    for name, tiles, launches, slots, stages in program.steps:
        known = [location(slot) for slot in slots]

        def named(numbers: list[int], known: list[Location] = known) -> list[Location]:
            return [known[n] if n < len(known) else Location("local", f"local{n - len(known)}") for n in numbers]

        listed = [Stage(stage, named(reads), named(writes)) for stage, reads, writes in stages]
        steps.append(Step(name, tiles, launches, listed))
    return steps


def _text(x: float, y: float, words: str, weight: int = 400) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_TEXT}" font-weight="{weight}">{escape(words)}</text>'


def _row(x: float, y: float, stage: Stage) -> tuple[str, int]:
    """The memory that a kernel reads and writes as one line of text, and the number of characters in it."""

    def spans(locations: list[Location]) -> list[str]:
        return [f'<tspan fill="{_COLOURS[location.kind]}">{location.name}</tspan>' for location in locations]

    words = spans(stage.reads) + (["→"] if stage.writes else []) + spans(stage.writes)
    length = sum(len(location.name) + 1 for location in stage.reads + stage.writes) + 2
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_TEXT}">{" ".join(words)}</text>', length


def _title(step: Step, number: int) -> str:
    launches = f", {step.launches} launches" if step.launches > 1 else ""
    host = "" if step.stages else ", on the host"
    return f"step {number}: {step.tiles:,} {'tile' if step.tiles == 1 else 'tiles'}{launches}{host}"


def _between(steps: list[Step]) -> list[tuple[int, int]]:
    """Pairs of steps (writer, reader): the reader uses memory or results that the writer wrote."""
    writers: dict[Location, int] = {}
    pairs = set()
    for number, step in enumerate(steps):
        for stage in step.stages:
            for location in stage.reads:
                writer = writers.get(location)
                if writer is not None and writer != number:
                    pairs.add((writer, number))
            writers.update((location, number) for location in stage.writes if location.kind not in ("local", "checks"))
    return sorted(pairs)


class Plan:
    """The plan of a compiled call. Printing it lists its steps; `svg()` draws them, and notebooks show the drawing.

    Example:
        >>> import lucid
        >>> double = lucid.compile(lambda x: x * 2)
        >>> _ = double(lucid.ones(4))
        >>> print(lucid.compiler.plan(double, lucid.ones(4)))
        plan: 1 step, 0 bytes of memory while it runs
        step 0: mul, 1 tile
          mul                      in0 -> out0
    """

    def __init__(self, program: _core.Program, text: str | None = None) -> None:
        self._program = program
        self._text = program.plan_text if text is None else text

    @property
    def steps(self) -> list[Step]:
        """The steps in the order in which they run."""
        return steps_of(self._program)

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return str(self).splitlines()[0]

    def svg(self) -> str:
        """The steps as a drawing, an SVG document."""
        return draw(self._program)

    _repr_svg_ = svg


def draw(program: _core.Program) -> str:
    """The drawing as an SVG document."""
    steps = steps_of(program)
    names = [stage.name for step in steps for stage in step.stages] + ["kernel"]
    reads_at = _LEFT + _PAD + (max(map(len, names)) + 2) * _CHARACTER
    parts: list[str] = []
    boxes: list[tuple[float, float]] = []
    widest = reads_at
    y = float(_TOP)
    for number, step in enumerate(steps):
        top = y
        y += _ROW
        parts.append(_text(_LEFT + _PAD, y - 4, _title(step, number), weight=600))
        for stage in step.stages or [Stage(step.name, [], [])]:
            y += _ROW
            row, length = _row(reads_at, y - 4, stage)
            parts += [_text(_LEFT + _PAD, y - 4, stage.name), row]
            widest = max(widest, reads_at + length * _CHARACTER)
        y += 6
        boxes.append((top, y))
        y += _GAP
    right = widest + _PAD
    parts += [
        f'<rect x="{_LEFT}" y="{top:.1f}" width="{right - _LEFT:.1f}" height="{bottom - top:.1f}" rx="6" '
        f'fill="none" stroke="{_FRAME}"/>'
        for top, bottom in boxes
    ]
    reach = right
    for source, target in _between(steps):
        start, end = boxes[source][1] - 8, boxes[target][0] + 12
        bend = right + min(12 + 10 * (target - source), 90)
        reach = max(reach, bend)
        parts.append(
            f'<path d="M{right:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f} {right + 6:.1f} {end:.1f}" '
            f'fill="none" stroke="{_COLOURS["memory"]}" stroke-opacity="0.55"/>'
            f'<path d="M{right + 1:.1f} {end:.1f}l7 -3.5v7z" fill="{_COLOURS["memory"]}"/>'
        )
    width, height = reach + _LEFT, y - _GAP + _TOP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" {_FONT}>\n' + "\n".join(parts) + "\n</svg>\n"
    )
