"""Draw the rows per second of each way of Spark's rungs, as an SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_SPEED = "_rows_per_second"
_ROW, _BAR, _LEFT, _WIDE, _RIGHT, _TOP = 22, 14, 270, 480, 90, 44
_OURS, _OTHERS, _RANGE = "#1f77b4", "#b0b7bf", "#444444"
_PRODUCT = {"product", "parquet", "iceberg"}


def draw_speeds(rungs: Mapping[str, Mapping[str, Any]]) -> str:
    """Draw a bar for each way of each rung: the median, and a line from slowest to fastest."""
    bars = [bar for name, rung in rungs.items() for bar in _bars(name, rung["parts"])]
    most = max((fastest for *_, fastest in bars), default=1.0)
    height = _TOP + _ROW * len(bars) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDE + _RIGHT}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-size="14">rows a second (thousands); the line is from '
        "the slowest turn to the fastest</text>",
        *_legend(),
        *(line for at, bar in enumerate(bars) for line in _draw(at, bar, _WIDE / most)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _bars(rung: str, parts: Mapping[str, float]) -> Iterator[tuple[str, bool, float, float, float]]:
    """Yield a bar for each way: name, whether it is the product's, median, slowest, fastest."""
    for part, median in parts.items():
        if part.endswith(_SPEED):
            way = part.removesuffix(_SPEED)
            label = f"{rung}: {way.replace('_', ' ')}"
            ours = way in _PRODUCT or way.startswith("poison")
            yield label, ours, median, parts[f"{way}_slowest"], parts[f"{way}_fastest"]


def _legend() -> Iterator[str]:
    for at, (colour, text) in enumerate(((_OURS, "Penstock"), (_OTHERS, "compared with"))):
        x = _LEFT + at * 90
        yield f'<rect x="{x}" y="26" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 14}" y="35">{text}</text>'


def _draw(at: int, bar: tuple[str, bool, float, float, float], scale: float) -> Iterator[str]:
    label, ours, median, slowest, fastest = bar
    y = _TOP + at * _ROW
    middle, base = y + _BAR / 2, y + _BAR - 3
    colour = _OURS if ours else _OTHERS
    yield f'<text x="{_LEFT - 8}" y="{base}" text-anchor="end">{escape(label)}</text>'
    yield (
        f'<rect x="{_LEFT}" y="{y}" width="{median * scale:.1f}" height="{_BAR}" fill="{colour}"/>'
    )
    yield (
        f'<line x1="{_LEFT + slowest * scale:.1f}" x2="{_LEFT + fastest * scale:.1f}" '
        f'y1="{middle}" y2="{middle}" stroke="{_RANGE}"/>'
    )
    x = _LEFT + max(median, fastest) * scale + 6
    yield f'<text x="{x:.1f}" y="{base}">{median / 1e3:.0f}</text>'
