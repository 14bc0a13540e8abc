"""Pictures of results: one column for each window, one line for each running total."""

from __future__ import annotations

import re

from jobs.sales.pictures import draw_lines, draw_results


def test_the_newest_total_of_each_window_is_drawn():
    drawn = draw_results(
        [
            ("Asia", 90.0, "2026-11-23 12:05", 700), ("Asia", 30.0, "2026-11-23 12:00", 300),
            ("Asia", 10.0, "2026-11-23 12:00", 100), ("A & B", 5.0, "2026-11-23 12:05", 700),
        ]
    )["sales_in_windows.svg"]  # fmt: skip
    titles = re.findall("<title>([^<]+)", drawn)

    assert titles[1:] == [
        "Asia, 12:00: 30.00", "A &amp; B, 12:00: 0.00",
        "Asia, 12:05: 90.00", "A &amp; B, 12:05: 5.00",
    ]  # fmt: skip


def test_a_line_has_a_point_for_each_batch_and_begins_at_zero():
    drawn = draw_results([("Asia", 50.0, None, 100), ("Asia", 100.0, None, 200)])

    (points,) = re.findall(r'points="([^"]+)"', drawn["running_totals.svg"])
    assert points == "64.0,296.0 332.0,168.0 600.0,40.0"


def test_the_greatest_lines_are_drawn_if_there_are_too_many():
    drawn = draw_lines([1], {f"c{at}": [float(at)] for at in range(12)}, "t", "b")

    assert re.findall(r"<title>(c\d+)", drawn) == [f"c{at}" for at in range(11, 3, -1)]


def test_no_results_are_an_empty_picture():
    for drawn in draw_results([]).values():
        assert "<polyline" not in drawn
        assert drawn.count("<rect") == 1  # the background
