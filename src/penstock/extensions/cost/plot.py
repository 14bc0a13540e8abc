"""A plot of the cost of each service by the rate of events, as SVG with two logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from typing import Final

from penstock.extensions.cost.carriers import price_carriers
from penstock.extensions.cost.prices import PriceList
from penstock.extensions.cost.workload import Workload

_RATES: Final = tuple(10 ** (power / 20) for power in range(101))  # 1 to 100,000 events a second
_COLOURS: Final = ("#1f77b4", "#7b4fa3", "#d1495b", "#e08e0b")
_GREY: Final = "#667"
_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 36, 62, 46
_FONT: Final = 'font-family="sans-serif" font-size="12"'


def draw_costs(load: Workload, prices: PriceList) -> str:
    """Draw a line for each service; a line ends where the service cannot carry the rate."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for events in _RATES:
        for carrier in price_carriers(replace(load, events=events), prices):
            points = lines.setdefault(carrier.name, [])
            if carrier.usd is not None:
                points.append((events, carrier.usd))
    costs = [usd for points in lines.values() for _, usd in points]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    title = (
        f"US dollars a month by events a second of {load.record_bytes:,} bytes; consumers: "
        f"{load.consumers}; kept for {load.retention_hours:,} hours"
    )
    parts = [_text(_LEFT, 20, title, "start", "#222"), *_draw_grid(low, high)]
    for number, (name, points) in enumerate(lines.items()):
        path = " ".join(f"{_x(events):.1f},{_y(usd, low, high):.1f}" for events, usd in points)
        colour, left = _COLOURS[number], _LEFT + 168 * number
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<rect x="{left}" y="34" width="12" height="12" fill="{colour}"/>',
            _text(left + 18, 44, name, "start"),
        ]
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img"><title>{escape(title)}</title>\n'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>\n'
        f"{inside}\n</svg>\n"
    )


def _draw_grid(low: int, high: int) -> Iterator[str]:
    right, floor = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    for power in range(low, high + 1):
        at = _y(10**power, low, high)
        yield _line(_LEFT, at, right, at)
        yield _text(_LEFT - 8, at + 4, f"{10**power:,}", "end")
    for power in range(round(math.log10(_RATES[-1])) + 1):
        at = _x(10**power)
        yield _line(at, _TOP, at, floor)
        yield _text(at, floor + 18, f"{10**power:,}", "middle")
    yield _text((_LEFT + right) / 2, floor + 36, "events a second", "middle")


def _x(events: float) -> float:
    return _LEFT + math.log10(events) / math.log10(_RATES[-1]) * (_WIDTH - _LEFT - _RIGHT)


def _y(usd: float, low: int, high: int) -> float:
    share = (math.log10(usd) - low) / (high - low)
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _line(left: float, top: float, right: float, bottom: float) -> str:
    return (
        f'<line x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}" stroke="#ddd"/>'
    )


def _text(left: float, top: float, text: str, anchor: str, fill: str = _GREY) -> str:
    return (
        f'<text x="{left:.1f}" y="{top:.1f}" {_FONT} fill="{fill}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )
