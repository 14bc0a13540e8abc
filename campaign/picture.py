"""The picture of a soak: memory, file handles and lag over its minutes, and its faults."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from campaign.soak import Series, Soak
from tools.svg import draw_bar, draw_frame, draw_text

_LEFT, _WIDE, _RIGHT = 64, 620, 116
_TOP, _HIGH, _GAP = 60, 150, 40
_TICKS: Final = 4
_MINUTE: Final = 60
_STEPS: Final = (12, 16, 20, 24, 32, 40, 60, 80, 100)
_GRID, _FAULT = "#dddddd", "#f2b8b5"
_COLOURS: Final = {
    "driver": "#d1495b", "job": "#d1495b", "localcloud": "#999999", "controller": "#2b2d42",
    "broker 1": "#1f77b4", "broker 2": "#56a5dc", "broker 3": "#9ccbf0", "producer": "#e08e0b",
    "consumer": "#2e8b57", "function": "#2e8b57", "mapping": "#7b4fa3",
}  # fmt: skip


def draw(soak: Soak) -> str:
    """Draw a plot for memory, one for handles and one for lag, one below the other."""
    lines: list[str] = []
    bottom = _TOP
    for name, series in soak.plots.items():
        top, bottom = bottom + _GAP, bottom + _GAP + _HIGH
        lines.append(draw_text(_LEFT, top - 8, name, style='font-weight="bold"'))
        lines += (
            draw_bar(_x(soak, second), top, 1.5, _FAULT, height=_HIGH) for second in soak.faults
        )
        lines += _draw_plot(soak, series, top)
    step = max(1, math.ceil(soak.minutes / 6))
    for minute in range(0, soak.minutes + 1, step):
        lines.append(draw_text(_x(soak, minute * _MINUTE), bottom + 18, f"{minute}", "middle"))
    lines.append(draw_text(_LEFT + _WIDE / 2, bottom + 36, "minutes", "middle"))
    title = f"{soak.minutes} minutes at {soak.rate:.0f} records a second, with faults"
    legend = ((_FAULT, "a fault begins"),)
    return draw_frame(title, legend, (_LEFT + _WIDE + _RIGHT, bottom + 46), lines)


def _draw_plot(soak: Soak, series: Series, top: int) -> Iterator[str]:
    """Yield an axis, and a line for each name, broken where there was no value."""
    most = _round_up(max((it for values in series.values() for it in values if it), default=1))
    for part in range(_TICKS + 1):
        y = top + _HIGH * (1 - part / _TICKS)
        yield f'<line x1="{_LEFT}" x2="{_LEFT + _WIDE}" y1="{y}" y2="{y}" stroke="{_GRID}"/>'
        yield draw_text(_LEFT - 6, y + 4, f"{most * part / _TICKS:,.0f}", "end")
    for at, (name, values) in enumerate(series.items()):
        for points in _split(zip(soak.seconds, values, strict=True)):
            path = " ".join(
                f"{_x(soak, second):.1f},{top + _HIGH * (1 - value / most):.1f}"
                for second, value in points
            )
            yield (
                f'<polyline points="{path}" fill="none" stroke="{_COLOURS[name]}" '
                f'stroke-width="1.5" stroke-linecap="round"/>'
            )
        y = top + 4 + at * 16
        yield draw_bar(_LEFT + _WIDE + 10, y, 10, _COLOURS[name], height=10)
        yield draw_text(_LEFT + _WIDE + 24, y + 9, name)


def _split(points: Iterable[tuple[float, int | None]]) -> Iterator[Sequence[tuple[float, int]]]:
    """Yield the points between gaps."""
    for is_there, group in groupby(points, lambda point: point[1] is not None):
        if is_there:
            yield [(second, value) for second, value in group if value is not None]


def _x(soak: Soak, second: float) -> float:
    return _LEFT + _WIDE * second / max(soak.minutes * _MINUTE, soak.seconds[-1])


def _round_up(most: int) -> int:
    """Return the next number that four lines divide well."""
    power = int(10 ** max(0, math.floor(math.log10(most)) - 1))
    return next(step for step in _STEPS if step * power >= most) * power
