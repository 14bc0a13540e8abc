"""Lines over time as an SVG picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

_COLOURS: Final = ("#1f77b4", "#e08e0b", "#7b4fa3", "#d1495b")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 340, 70, 20, 84, 40
_STEPS = 4


def draw_lines(title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return a picture of lines of (second, kB a second) by name."""
    points = [point for line in lines.values() for point in line]
    start, end = min(each[0] for each in points), max(each[0] for each in points)
    most = max(each[1] for each in points) * 1.1
    inside = [_text(_LEFT, 24, title, "start"), *_draw_grid(end - start, most)]
    for number, (name, line) in enumerate(sorted(lines.items())):
        path = " ".join(
            f"{_LEFT + (at - start) / (end - start) * (_WIDTH - _LEFT - _RIGHT):.1f},"
            f"{_y(value / most):.1f}"
            for at, value in line
        )
        colour, left, top = _COLOURS[number], _LEFT + 320 * (number % 2), 38 + 20 * (number // 2)
        inside += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<rect x="{left}" y="{top}" width="12" height="12" fill="{colour}"/>',
            _text(left + 18, top + 10, name, "start"),
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img"><title>{escape(title)}</title>\n'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>\n' + "\n".join(inside) + "\n"
        "</svg>\n"
    )


def _draw_grid(seconds: float, most: float) -> Iterator[str]:
    for step in range(_STEPS + 1):
        y, x = _y(step / _STEPS), _LEFT + step / _STEPS * (_WIDTH - _LEFT - _RIGHT)
        yield f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#dde"/>'
        yield _text(_LEFT - 8, y + 4, f"{most * step / _STEPS:.1f} kB/s", "end")
        yield _text(x, _HEIGHT - 16, f"{seconds * step / _STEPS:.0f} s", "middle")


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#334" '
        f'font-family="sans-serif" font-size="12">{escape(words)}</text>'
    )
