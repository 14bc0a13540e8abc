"""When a schedule is due, by its expression."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from localcloud.services.scheduler.expressions import read_expression

START = datetime(2026, 11, 22, 10, 0, 30, tzinfo=UTC)  # a Sunday


def dates(text, moment=START, start=START, zone="UTC", count=3):
    """The next occurrences, in UTC."""
    expression, found = read_expression(text, ZoneInfo(zone)), []
    while len(found) < count and (due := expression.next_after(moment, start)):
        found.append(f"{due:%Y-%m-%d %H:%M:%S}")
        moment = due
    return found


def test_a_rate_counts_from_its_start_which_is_due_itself():
    before = START - timedelta(microseconds=1)
    assert dates("rate(5 minutes)", before) == [
        "2026-11-22 10:00:30",
        "2026-11-22 10:05:30",
        "2026-11-22 10:10:30",
    ]
    assert dates("rate(1 hour)", START + timedelta(minutes=90), count=1) == ["2026-11-22 12:00:30"]


def test_a_day_of_a_rate_has_24_hours_whatever_the_clocks_do():
    start = datetime(2026, 3, 28, 5, tzinfo=UTC)
    assert dates("rate(1 day)", start, start, "Europe/Berlin", 2) == [
        "2026-03-29 05:00:00",
        "2026-03-30 05:00:00",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cron(0/20 10 ? * * *)", ["22 10:20", "22 10:40", "23 10:00"]),
        ("cron(15 6,18 ? * MON-FRI *)", ["23 06:15", "23 18:15", "24 06:15"]),
        ("cron(0 0 L * ? *)", ["30 00:00", "31 00:00", "31 00:00"]),
        ("cron(0 0 28W * ? *)", ["27 00:00", "28 00:00", "28 00:00"]),
        ("cron(0 0 ? * 3#2 *)", ["08 00:00", "12 00:00", "09 00:00"]),
        ("cron(0 0 ? * 6L *)", ["27 00:00", "25 00:00", "29 00:00"]),
        ("cron(0 0 ? * L *)", ["28 00:00", "05 00:00", "12 00:00"]),
        ("cron(30 9 24-26/2 NOV ? 2026-2027)", ["24 09:30", "26 09:30", "24 09:30"]),
        ("cron(0 0 29 2 ? *)", ["29 00:00", "29 00:00", "29 00:00"]),
        ("cron(0 0 1 1 ? 2020)", []),
    ],
)
def test_a_cron_expression_names_its_days_and_times(text, expected):
    assert [each[8:16] for each in dates(text)] == expected


@pytest.mark.parametrize(
    ("month", "day"), [(8, 3), (11, 2)], ids=["a Saturday the first", "a Sunday the first"]
)
def test_the_weekday_nearest_to_the_first_stays_in_the_month(month, day):
    start = datetime(2026, month, 1, tzinfo=UTC) - timedelta(seconds=1)
    assert dates("cron(0 0 1W * ? *)", start, start, count=1)[0][5:10] == f"{month:02}-{day:02}"


def test_the_weekday_nearest_to_the_last_stays_in_the_month():
    start = datetime(2026, 5, 20, tzinfo=UTC)  # 31 May 2026 is a Sunday
    assert dates("cron(0 0 31W * ? *)", start, start, count=1)[0][5:10] == "05-29"


def test_a_time_that_spring_leaves_out_is_skipped_and_one_that_autumn_repeats_counts_once():
    spring, autumn = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)

    found = dates("cron(30 2 ? * * *)", spring, spring, "Europe/Berlin", 2)
    assert found == ["2026-03-30 00:30:00", "2026-03-31 00:30:00"]

    found = dates("cron(30 2 ? * * *)", autumn, autumn, "Europe/Berlin", 2)
    assert found == ["2026-10-25 00:30:00", "2026-10-26 01:30:00"]


def test_one_moment_is_read_in_its_time_zone_and_comes_once():
    assert dates("at(2026-12-24T18:00:00)", zone="Europe/Berlin") == ["2026-12-24 17:00:00"]
    assert dates("at(2026-11-22T10:00:30)") == []


@pytest.mark.parametrize(
    "text",
    [
        "5 minutes",
        "rate(0 minutes)",
        "rate(5 minute)",
        "rate(5 seconds)",
        "rate(1.5 hours)",
        "at(2026-11-22)",
        "at(2026-13-22T10:00:00)",
        "cron(0 6 * * *)",
        "cron(0 6 * * * *)",
        "cron(0 6 ? * ? *)",
        "cron(60 6 ? * * *)",
        "cron(0 24 ? * * *)",
        "cron(0 6 ? * 0 *)",
        "cron(0 6 ? * 2#6 *)",
        "cron(0 6 ? FEB-JAN * *)",
        "cron(0 6 ? * * 2200)",
        "cron(0 6 1-2W * ? *)",
        "cron(*-3 6 ? * * *)",
        "cron(0/0 6 ? * * *)",
    ],
)
def test_an_invalid_expression_is_refused(text):
    with pytest.raises(ValueError, match=re.escape(f"found {text!r}, expected rate")):
        read_expression(text, ZoneInfo("UTC"))
