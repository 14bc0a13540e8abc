"""The picture: a square for each change and system, coloured by the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from proof.change import Change
from proof.oracle import Verdict
from proof.results import Cell

_LEFT, _TOP, _ROW, _WIDE, _GAP = 470, 84, 22, 142, 4
COLOURS: Final = {
    Verdict.KEPT: "#2e8b57",
    Verdict.DEAD_LETTER: "#e9c46a",
    Verdict.RESTART: "#f4a261",
    Verdict.STOPPED: "#d1495b",
    Verdict.LOST: "#7b2d43",
    Verdict.WRONG: "#2b2d42",
}
_DARK: Final = frozenset({Verdict.KEPT, Verdict.STOPPED, Verdict.LOST, Verdict.WRONG})


def draw(
    changes: Sequence[Change], titles: Mapping[str, str], cells: Mapping[str, Mapping[str, Cell]]
) -> str:
    """Draw the verdict on each change in each system, as SVG."""
    width = _LEFT + len(titles) * (_WIDE + _GAP) + 8
    height = _TOP + len(changes) * _ROW + 8
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(8, 20, "The same live schema changes, in the same topics", 'font-size="15"'),
        *_legend(),
        *_heads(titles),
    ]
    for at, change in enumerate(changes):
        drawn += _row(_TOP + at * _ROW, change, [cells[name][change.name] for name in titles])
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _legend() -> Iterator[str]:
    for at, (verdict, colour) in enumerate(COLOURS.items()):
        x = 8 + at * 120
        yield f'<rect x="{x}" y="32" width="12" height="12" fill="{colour}"/>'
        yield _text(x + 17, 42, verdict)


def _heads(titles: Mapping[str, str]) -> Iterator[str]:
    for at, title in enumerate(titles.values()):
        yield _text(_x(at) + _WIDE / 2, 70, title, 'font-weight="bold" text-anchor="middle"')


def _row(y: int, change: Change, cells: Sequence[Cell]) -> Iterator[str]:
    yield _text(_LEFT - 8, y + 15, change.title.replace("`", ""), 'text-anchor="end"')
    for at, cell in enumerate(cells):
        colour = COLOURS[cell.verdict]
        ink = "white" if cell.verdict in _DARK else "black"
        yield f'<rect x="{_x(at)}" y="{y}" width="{_WIDE}" height="{_ROW - 3}" fill="{colour}"/>'
        style = f'text-anchor="middle" fill="{ink}"'
        yield _text(_x(at) + _WIDE / 2, y + 14, cell.verdict, style)


def _x(column: int) -> int:
    return _LEFT + column * (_WIDE + _GAP)


def _text(x: float, y: int, words: str, style: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y}" {style}>{escape(words)}</text>'
