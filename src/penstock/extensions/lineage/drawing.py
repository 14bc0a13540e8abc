"""Lineage as SVG: producers, schemas, topics, programs, tables and columns from left to right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from html import escape
from typing import Final

from penstock.extensions.lineage.model import Lineage, Table, Topic
from penstock.extensions.lineage.text import describe_sources, join_numbers

_COLOURS: Final = ("#1f77b4", "#7b4fa3", "#2a8c6a", "#c26a1b", "#33415c", "#8892a6")
_LOST: Final = "#d1495b"
_TEXT: Final = "#222"
_GREY: Final = "#667"
_FONT: Final = 'font-family="sans-serif" font-size="12"'
_CHARACTER: Final = 7  # a mean width of a letter, in pixels
_LONGEST: Final = 56
_LINE, _ROW, _BETWEEN, _GAP, _TOP, _EDGE = 15, 24, 10, 56, 52, 16


class _Layer(IntEnum):
    """The kinds of boxes, from left to right; those of one kind are below each other."""

    PRODUCERS = 0
    SCHEMAS = 1
    TOPICS = 2
    PROGRAMS = 3
    TABLES = 4
    COLUMNS = 5


_Key = tuple[_Layer, str]  # a layer and a name


@dataclass(slots=True)
class _Box:
    """A box with its lines; `top` is set when the picture is laid out."""

    lines: list[str]
    is_lost: bool = False
    top: float = 0

    @property
    def height(self) -> float:
        return _ROW + _LINE * (len(self.lines) - 1)

    @property
    def width(self) -> float:
        return max(len(_cut(each)) for each in self.lines) * _CHARACTER + 18

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


@dataclass(slots=True)
class _Picture:
    """The boxes of a picture by layer and name, and the lines between them."""

    boxes: dict[_Key, _Box] = field(default_factory=dict)
    edges: dict[tuple[_Key, _Key], None] = field(default_factory=dict)

    def add(self, layer: _Layer, name: str, *lines: str, is_lost: bool = False) -> _Key:
        self.boxes.setdefault((layer, name), _Box(list(lines), is_lost))
        return layer, name

    def link(self, start: _Key, end: _Key) -> None:
        self.edges[start, end] = None

    def place(self) -> tuple[dict[_Layer, float], int, int]:
        """Set the tops of all boxes; return the left of each layer, the width and the height."""
        ends: dict[_Key, list[_Key]] = defaultdict(list)
        for start, end in self.edges:
            ends[start].append(end)
        for layer in reversed(_Layer):
            keys = [key for key in self.boxes if key[0] == layer]
            wanted = {key: self._find_middle(ends[key]) for key in keys}
            below: float = _TOP
            for key in sorted(keys, key=lambda key: wanted[key]):
                box = self.boxes[key]
                box.top = max(below, wanted[key] - box.height / 2)
                below = box.top + box.height + _BETWEEN
        lefts: dict[_Layer, float] = {}
        right: float = 0
        for layer in sorted({key[0] for key in self.boxes}):
            lefts[layer] = right + _GAP if lefts else _EDGE
            widest = max(box.width for key, box in self.boxes.items() if key[0] == layer)
            right = lefts[layer] + widest
        bottom = max((each.top + each.height for each in self.boxes.values()), default=_TOP)
        return lefts, round(right) + _EDGE, round(bottom) + _EDGE

    def _find_middle(self, keys: Sequence[_Key]) -> float:
        """Return the mean place of boxes, 0 if there are none."""
        return sum(self.boxes[each].middle for each in keys) / max(len(keys), 1)


def draw_lineage(lineage: Lineage) -> str:
    """Draw a lineage; columns of Penstock are left out, and those without a source are red."""
    picture = _Picture()
    for topic in lineage.topics:
        _add_topic(picture, topic)
    for table in lineage.tables:
        _add_table(picture, table)
    lefts, width, height = picture.place()
    parts = [_text(lefts[each], _TOP - 20, each.name.lower(), _GREY) for each in lefts]
    parts += [_draw_edge(picture.boxes, lefts, start, end) for start, end in picture.edges]
    for key, box in picture.boxes.items():
        parts += _draw_box(box, lefts[key[0]], _COLOURS[key[0]])
    moment = f" as of {lineage.as_of:%Y-%m-%d %H:%M:%S %Z}" if lineage.as_of else ""
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img"><title>{escape(f"Lineage{moment}")}'
        f'</title>\n<rect width="{width}" height="{height}" fill="#fff"/>\n{inside}\n</svg>\n'
    )


def _add_topic(picture: _Picture, topic: Topic) -> None:
    end = picture.add(_Layer.TOPICS, topic.name, topic.name)
    numbers = topic.group_versions()
    for schema, found in numbers.items():
        start = picture.add(_Layer.SCHEMAS, schema, schema, f"versions {join_numbers(found)}")
        picture.link(start, end)
    for writer in topic.writers:
        start = picture.add(_Layer.PRODUCERS, writer.program, writer.program)
        has_schema = writer.schema in numbers
        picture.link(start, (_Layer.SCHEMAS, writer.schema) if has_schema else end)
    for use in topic.uses:
        program = f"{use.consumer}, {use.program}"
        picture.link(end, picture.add(_Layer.PROGRAMS, program, use.program, use.consumer))


def _add_table(picture: _Picture, table: Table) -> None:
    total = sum(each.rows for each in table.rows or ())
    rows = [f"{total:,} rows"] if table.rows is not None else []
    # Tables of two consumers may have one name.
    key = picture.add(_Layer.TABLES, f"{table.consumer}, {table.name}", table.name, *rows)
    for program in table.programs:
        start = picture.add(
            _Layer.PROGRAMS, f"{table.consumer}, {program}", program, table.consumer
        )
        picture.link(start, key)
    for column in table.columns:
        if not column.is_own:
            name = f"{table.consumer}, {table.name}.{column.name}"
            lines = (f"{column.name} {column.type}", describe_sources(column))
            end = picture.add(_Layer.COLUMNS, name, *lines, is_lost=column.is_unexplained)
            picture.link(key, end)


def _draw_edge(
    boxes: Mapping[_Key, _Box], lefts: Mapping[_Layer, float], start: _Key, end: _Key
) -> str:
    x1, y1 = lefts[start[0]] + boxes[start].width, boxes[start].middle
    x2, y2 = lefts[end[0]], boxes[end].middle
    bend = min(40, (x2 - x1) / 2)
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} '
        f'{x2:.1f} {y2:.1f}" fill="none" stroke="#b8c0cc" stroke-width="1.2"/>'
    )


def _draw_box(box: _Box, left: float, colour: str) -> Iterator[str]:
    edge = _LOST if box.is_lost else colour
    yield (
        f'<rect x="{left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="4" fill="#fff" stroke="{edge}" stroke-width="1.4"><title>'
        f"{escape(chr(10).join(box.lines))}</title></rect>"
    )
    for number, line in enumerate(box.lines):
        fill = _TEXT if number == 0 else _LOST if box.is_lost else _GREY
        yield _text(left + 9, box.top + 16 + _LINE * number, _cut(line), fill)


def _text(left: float, top: float, text: str, fill: str) -> str:
    return f'<text x="{left:.1f}" y="{top:.1f}" {_FONT} fill="{fill}">{escape(text)}</text>'


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
