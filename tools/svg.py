"""Words, bars and the frame of a plot in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def draw_frame(
    title: str, legend: Sequence[tuple[str, str]], size: tuple[float, float], lines: Sequence[str]
) -> str:
    """Return a plot with a title, and colours with their words."""
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" '
        f'height="{size[1]}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        draw_text(8, 18, title, style='font-size="14"'),
    ]
    for at, (colour, words) in enumerate(legend):
        x = 8 + at * 100
        drawn += [draw_bar(x, 28, 10, colour, height=10), draw_text(x + 14, 37, words)]
    return "\n".join([*drawn, *lines, "</svg>"]) + "\n"


def draw_text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    """Return words at a place."""
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" {style}>{escape(words)}</text>'


def draw_bar(x: float, y: float, width: float, colour: str, *, height: float) -> str:
    """Return a filled rectangle."""
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}"/>'
