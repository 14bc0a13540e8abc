"""Pictures of sales as SVG: columns for windows, and lines for running totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

Series = Mapping[str, Sequence[float]]
# A result: its name, its sales, the start of its window, and how many sales were read before.
Result = tuple[str, float, str | None, int]

# Okabe and Ito's colours, which people with any colour vision can tell apart.
_COLOURS: Final = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#999999"),
)
_WIDTH, _HEIGHT = 760, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 600, 40, 296
_FONT: Final = 'font-family="sans-serif" font-size="12"'
_GREY: Final = "#556"
_GAP: Final = 0.3  # of the room of a column
_STEPS: Final = (1, 2, 2.5, 4, 5, 10)


def draw_results(results: Iterable[Result]) -> dict[str, str]:
    """Return the pictures of results by the names of their files."""
    windows: dict[str, dict[str, float]] = {}
    running: dict[int, dict[str, float]] = {}
    for name, sales, start, read in sorted(results, key=lambda result: result[3]):
        if start is None:
            running.setdefault(read, {})[name] = sales
        else:
            windows.setdefault(start, {})[name] = sales  # the newest total of the window
    starts = sorted(windows)
    return {
        "sales_in_windows.svg": draw_columns(
            [start.rpartition(" ")[2] for start in starts],
            _arrange([windows[start] for start in starts]),
            "Sales in windows of ten minutes, by the time at which they begin",
        ),
        "running_totals.svg": draw_lines(
            [*running], _arrange([*running.values()]), "Running totals of sales", "sales read"
        ),
    }


def _arrange(steps: Sequence[Mapping[str, float]]) -> Series:
    names = sorted({name for step in steps for name in step})
    return {name: [step.get(name, 0.0) for step in steps] for name in names}


def draw_columns(labels: Sequence[str], series: Series, title: str) -> str:
    """Draw a column for each label, in which the series are stacked."""
    chosen = _choose(series)
    most = _round_up(max(map(sum, zip(*chosen.values(), strict=True)), default=0))
    room = (_RIGHT - _LEFT) / max(1, len(labels))
    parts = [*_axis(most), *_legend(chosen)]
    for at, label in enumerate(labels):
        left, floor = _LEFT + room * (at + _GAP / 2), float(_BOTTOM)
        for colour, (name, values) in zip(_COLOURS, chosen.items(), strict=False):
            height = values[at] / most * (_BOTTOM - _TOP)
            floor -= height
            parts.append(
                f'<rect x="{left:.1f}" y="{floor:.1f}" width="{room * (1 - _GAP):.1f}" '
                f'height="{height:.1f}" fill="{colour}">'
                f"<title>{escape(name)}, {label}: {values[at]:,.2f}</title></rect>"
            )
        parts.append(_text(_LEFT + room * (at + 0.5), _BOTTOM + 18, label, "middle"))
    return _svg(parts, title)


def draw_lines(steps: Sequence[float], series: Series, title: str, below: str) -> str:
    """Draw a line for each series over steps, which begin at zero; `below` says what they are."""
    chosen = _choose(series)
    most = _round_up(max((max(values) for values in chosen.values()), default=0))
    end = max(steps, default=0) or 1
    parts = [*_axis(most), *_legend(chosen)]
    for colour, (name, values) in zip(_COLOURS, chosen.items(), strict=False):
        points = " ".join(
            f"{_LEFT + step / end * (_RIGHT - _LEFT):.1f},"
            f"{_BOTTOM - value / most * (_BOTTOM - _TOP):.1f}"
            for step, value in zip((0, *steps), (0, *values), strict=True)
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(name)}: {values[-1]:,.2f}</title></polyline>"
        )
    for part in range(6):
        left = _LEFT + part / 5 * (_RIGHT - _LEFT)
        parts.append(_text(left, _BOTTOM + 18, f"{end * part / 5:,.0f}", "middle"))
    parts.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 36, below, "middle"))
    return _svg(parts, title)


def _choose(series: Series) -> Series:
    """Return the series with the greatest last values, as many as there are colours."""
    ranked = sorted(series.items(), key=lambda item: -item[1][-1])
    return dict(ranked[: len(_COLOURS)])


def _round_up(most: float) -> float:
    """Return the least round number that is not below."""
    power = 1.0
    while power * 10 < most:
        power *= 10
    return next((power * step for step in _STEPS if power * step >= most), most) or 1.0


def _axis(most: float) -> Iterator[str]:
    for part in range(6):
        top = _BOTTOM - part / 5 * (_BOTTOM - _TOP)
        colour = _GREY if part == 0 else "#dde"
        yield f'<line x1="{_LEFT}" y1="{top:.1f}" x2="{_RIGHT}" y2="{top:.1f}" stroke="{colour}"/>'
        yield _text(_LEFT - 8, top + 4, f"{most * part / 5:,.0f}", "end")


def _legend(series: Series) -> Iterator[str]:
    for at, (colour, name) in enumerate(zip(_COLOURS, series, strict=False)):
        top = _TOP + at * 22
        yield f'<rect x="{_RIGHT + 20}" y="{top}" width="12" height="12" fill="{colour}"/>'
        yield _text(_RIGHT + 38, top + 11, name, "start")


def _text(left: float, top: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{left:.1f}" y="{top:.1f}" {_FONT} fill="{_GREY}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def _svg(parts: Sequence[str], title: str) -> str:
    inside = "\n".join((_text(_LEFT, 22, title, "start"), *parts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img"><title>{escape(title)}</title>\n'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>\n{inside}\n</svg>\n'
    )
