"""Plots as inline SVG: bars upwards, and bars to the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

BLUE: Final = "#3b6fb6"
RED: Final = "#c0392b"
_GREY: Final = "#667"
_WIDTH: Final = 720
_HEIGHT: Final = 220
_TOP: Final = 20
_BOTTOM: Final = 34
_LEFT: Final = 64
_LINE: Final = 22
_NAMES: Final = 230
_MOST_LABELS: Final = 10
_MOST_LETTERS: Final = 28
_LEAST: Final = 2  # a small value is seen
_FONT: Final = 'font-family="sans-serif" font-size="12"'


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its label, its value, the part of it that is red, and the text for its value."""

    label: str
    value: float
    red: float = 0
    text: str = ""


def draw_columns(bars: Sequence[Bar], title: str) -> str:
    """Draw bars upwards, with a label below as many of them as there is room for."""
    most = max((bar.value for bar in bars), default=0) or 1
    step = (_WIDTH - _LEFT) / max(1, len(bars))
    floor = _HEIGHT - _BOTTOM
    scale = (floor - _TOP) / most
    parts = [_line(_LEFT, floor, _WIDTH, floor), _text(_LEFT - 6, _TOP + 4, f"{most:,g}", "end")]
    parts.append(_text(_LEFT - 6, floor + 4, "0", "end"))
    every = -(-len(bars) // _MOST_LABELS)
    for at, bar in enumerate(bars):
        left, width = _LEFT + at * step, max(1.0, step * 0.8)
        about = f"{bar.label}: {bar.text or f'{bar.value:,g}'}"
        parts.append(_bar((left, floor), (width, -_size(bar.value, scale)), BLUE, about))
        if bar.red:
            parts.append(_bar((left, floor), (width, -_size(bar.red, scale)), RED, about))
        if at % every == 0:
            parts.append(_text(left + width / 2, floor + 18, bar.label, "middle"))
    return _svg(parts, _HEIGHT, title)


def draw_lines(bars: Sequence[Bar], title: str, most: float = 1.0) -> str:
    """Draw bars to the right, a line each, with the label before and the text behind."""
    room = _WIDTH - _NAMES - 150
    parts = []
    for at, bar in enumerate(bars):
        top, width = at * _LINE + 4, _size(bar.value, room / most)
        about = f"{bar.label}: {bar.text}"
        label = (
            bar.label if len(bar.label) <= _MOST_LETTERS else f"{bar.label[: _MOST_LETTERS - 1]}…"
        )
        parts.append(_text(_NAMES - 8, top + 13, label, "end"))
        parts.append(_bar((_NAMES, top), (room, _LINE - 8), "#e6e9ef", about))
        parts.append(_bar((_NAMES, top), (width, _LINE - 8), RED if bar.red else BLUE, about))
        colour = RED if bar.red else _GREY
        parts.append(_text(_NAMES + room + 8, top + 13, bar.text, "start", colour))
    return _svg(parts, len(bars) * _LINE + 8, title)


def _svg(parts: Sequence[str], height: float, title: str) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" '
        f'width="{_WIDTH}" height="{height:g}" role="img"><title>{escape(title)}</title>\n'
        f"{inside}\n</svg>"
    )


def _bar(corner: tuple[float, float], size: tuple[float, float], fill: str, about: str) -> str:
    """Draw a bar from a corner; one of negative height goes upwards."""
    (left, top), (width, height) = corner, size
    return (
        f'<rect x="{left:.1f}" y="{min(top, top + height):.1f}" width="{width:.1f}" '
        f'height="{abs(height):.1f}" fill="{fill}"><title>{escape(about)}</title></rect>'
    )


def _line(left: float, top: float, right: float, bottom: float) -> str:
    return f'<line x1="{left}" y1="{top}" x2="{right}" y2="{bottom}" stroke="{_GREY}"/>'


def _text(left: float, top: float, text: str, anchor: str, fill: str = _GREY) -> str:
    return (
        f'<text x="{left:.1f}" y="{top:.1f}" {_FONT} fill="{fill}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def _size(value: float, scale: float) -> float:
    return max(_LEAST, value * scale) if value else 0
