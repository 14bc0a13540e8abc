"""Two plots as SVG: the rows per second of each way, and each figure against its goal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.ladder import Rung
from tools.svg import draw_bar, draw_frame, draw_text

_SPEED = "_rows_per_second"
_ROW, _BAR, _LEFT, _WIDE, _RIGHT, _TOP = 20, 13, 270, 480, 90, 58
_OURS, _OTHERS, _MISSED, _RANGE, _GRID = "#1f77b4", "#b0b7bf", "#d1495b", "#444444", "#dddddd"
# Ways of other programs, or of one schema for all; the rest are Penstock's.
_COMPARED = frozenset(
    "scan values one_schema filters arrow pandas cached write test by_hand scans".split()
)


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    ours: bool
    median: float
    slowest: float
    fastest: float


def draw_speeds(rungs: Mapping[str, Mapping[str, Any]]) -> str:
    """Draw a bar for each way of each rung: the median, and a line from slowest to fastest.

    Each rung has a scale of its own, since rungs differ in the size and the number of records.
    """
    lines, y = [], _TOP
    for name, rung in rungs.items():
        bars = list(_bars(rung["parts"]))
        if not bars:
            continue
        lines.append(draw_text(8, y + _BAR, name, style='font-weight="bold"'))
        scale = _WIDE / max(bar.fastest for bar in bars)
        for bar in bars:
            y += _ROW
            lines += _draw(y, bar, scale)
        y += _ROW + 6
    title = "rows per second, each rung to its own scale; lines are from slowest to fastest turn"
    return _frame(title, ((_OURS, "Penstock"), (_OTHERS, "compared with")), y, lines)


def draw_goals(rungs: Sequence[Rung], measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Draw how far each figure is beyond its goal, or how much is missing."""
    shares = [
        (rung, share)
        for rung in rungs
        if rung.name in measured and (share := _share(rung, measured[rung.name]["figure"]))
    ]
    high = max([share for _, share in shares], default=1.0)
    low = min([share for _, share in shares], default=1.0)
    scale = _Scale(min(low, 0.1), max(high, 1.0))
    lines, zero = list(scale.draw(_TOP + _ROW * len(shares))), scale.x(1)
    for at, (rung, share) in enumerate(shares):
        y, x = _TOP + at * _ROW, scale.x(share)
        colour = _OURS if share >= 1 else _MISSED
        lines.append(draw_text(_LEFT - 8, y + _BAR - 3, rung.name, anchor="end"))
        lines.append(_bar(min(x, zero), y, abs(x - zero), colour))
        words = f"{share:,.2f}" if share < 10 else f"{share:,.0f}"
        lines.append(draw_text(max(x, zero) + 6, y + _BAR - 3, words))
    title = "figure divided by its goal (goal by figure for `at most`), logarithmic; 1 is the goal"
    legend = ((_OURS, "reached"), (_MISSED, "not reached"))
    return _frame(title, legend, _TOP + _ROW * len(shares), lines)


def _share(rung: Rung, figure: float) -> float | None:
    if rung.at_least:
        return figure / rung.at_least
    return rung.at_most / figure if rung.at_most and figure > 0 else None


@dataclass(frozen=True, slots=True)
class _Scale:
    """A logarithmic scale between two figures."""

    low: float
    high: float

    def x(self, figure: float) -> float:
        """Return the place of a figure."""
        span = math.log10(self.high / self.low) or 1.0
        return _LEFT + _WIDE * math.log10(max(figure, self.low) / self.low) / span

    def draw(self, height: int) -> Iterator[str]:
        """Yield a line for each power of ten."""
        for power in range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1):
            x = self.x(10.0**power)
            yield (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{height}" stroke="{_GRID}"/>'
            )
            yield draw_text(x, _TOP - 10, f"{10.0**power:,g}", anchor="middle")


def _bars(parts: Mapping[str, float]) -> Iterator[_Bar]:
    for part, median in parts.items():
        if part.endswith(_SPEED):
            way = part.removesuffix(_SPEED)
            label = way.replace("_", " ")
            ours = way not in _COMPARED
            yield _Bar(label, ours, median, parts[f"{way}_slowest"], parts[f"{way}_fastest"])


def _draw(y: int, bar: _Bar, scale: float) -> Iterator[str]:
    middle = y + _BAR / 2
    yield draw_text(_LEFT - 8, y + _BAR - 3, bar.label, anchor="end")
    yield _bar(_LEFT, y, bar.median * scale, _OURS if bar.ours else _OTHERS)
    yield (
        f'<line x1="{_LEFT + bar.slowest * scale:.1f}" x2="{_LEFT + bar.fastest * scale:.1f}" '
        f'y1="{middle}" y2="{middle}" stroke="{_RANGE}" stroke-width="2"/>'
    )
    end = _LEFT + max(bar.median, bar.fastest) * scale
    yield draw_text(end + 6, y + _BAR - 3, f"{bar.median:,.0f}")


def _frame(title: str, legend: Sequence[tuple[str, str]], height: int, lines: Sequence[str]) -> str:
    return draw_frame(title, legend, (_LEFT + _WIDE + _RIGHT, height + 8), lines)


def _bar(x: float, y: float, width: float, colour: str) -> str:
    return draw_bar(x, y, width, colour, height=_BAR)
