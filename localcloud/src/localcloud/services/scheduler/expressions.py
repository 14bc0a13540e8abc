"""Schedule expressions: rate(5 minutes), cron(0 6 ? * MON-FRI *), at(2026-11-22T10:00:00).

EventBridge Scheduler User Guide, "Schedule types": a cron expression is read in its time zone. A
time that does not exist there in spring is skipped, and one that comes twice in autumn counts once.
A day of a rate is always 24 hours.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

_RATE = re.compile(r"rate\(([1-9]\d*) (minute|hour|day)(s?)\)")
_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")
_CRON = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_PART = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?")
_MONTHS = {name.upper(): number for number, name in enumerate(calendar.month_abbr) if name}
_WEEKDAYS = {"SUN": 1, "MON": 2, "TUE": 3, "WED": 4, "THU": 5, "FRI": 6, "SAT": 7}
_MOST_DAYS = 9 * 366  # 29 February comes after at most eight years

_DayRule: TypeAlias = Callable[[date], bool]


@dataclass(frozen=True, slots=True)
class Rate:
    """A fixed interval from a start on."""

    interval: timedelta

    def next_after(self, moment: datetime, start: datetime) -> datetime | None:
        """Return the first occurrence after a moment."""
        if moment < start:
            return start
        return start + ((moment - start) // self.interval + 1) * self.interval


@dataclass(frozen=True, slots=True)
class At:
    """One moment."""

    moment: datetime

    def next_after(self, moment: datetime, start: datetime) -> datetime | None:
        """Return the moment if it is still to come: start and end dates do not count."""
        return self.moment if self.moment > moment else None


@dataclass(frozen=True, slots=True)
class Cron:
    """Times of day on the days of a calendar, in a time zone."""

    times: tuple[time, ...]
    is_due: _DayRule
    zone: ZoneInfo

    def next_after(self, moment: datetime, start: datetime) -> datetime | None:
        """Return the first occurrence after a moment and not before the start."""
        after = max(moment, start - timedelta(microseconds=1))
        first = after.astimezone(self.zone).date()
        for number in range(_MOST_DAYS):
            day = first + timedelta(days=number)
            if self.is_due(day):
                found = next((it for it in self._moments(day) if it > after), None)
                if found is not None:
                    return found
        return None

    def _moments(self, day: date) -> Iterator[datetime]:
        for each in self.times:
            local = datetime.combine(day, each, self.zone)
            moment = local.astimezone(UTC)
            if moment.astimezone(self.zone).replace(tzinfo=None) == local.replace(tzinfo=None):
                yield moment


Expression: TypeAlias = Rate | Cron | At


def read_expression(text: str, zone: ZoneInfo) -> Expression:
    """Return a schedule expression.

    Raises:
        ValueError: the text is not a schedule expression.
    """
    try:
        return _read_expression(text, zone)
    except ValueError as error:
        expected = "expected rate(...), cron(...) of six fields or at(...)"
        raise ValueError(f"found {text!r}, {expected}") from error


def _read_expression(text: str, zone: ZoneInfo) -> Expression:
    if found := _RATE.fullmatch(text):
        count, unit, plural = int(found[1]), found[2], found[3]
        if count > 1 and not plural:
            raise ValueError(text)
        return Rate(timedelta(**{f"{unit}s": count}))
    if found := _AT.fullmatch(text):
        return At(datetime.fromisoformat(found[1]).replace(tzinfo=zone).astimezone(UTC))
    if found := _CRON.fullmatch(text):
        return _read_cron(found, zone)
    raise ValueError(text)


def _read_cron(found: re.Match[str], zone: ZoneInfo) -> Cron:
    minutes, hours, days, months, weekdays, years = found.groups()
    if (days == "?") == (weekdays == "?"):
        raise ValueError("one of day of month and day of week is ?, the other is not")
    times = [
        time(hour, minute)
        for hour in _read_field(hours, 0, 23)
        for minute in _read_field(minutes, 0, 59)
    ]
    in_months = frozenset(_read_field(months, 1, 12, _MONTHS))
    in_years = frozenset(_read_field(years, 1970, 2199))
    on_day = _read_days(days) if weekdays == "?" else _read_weekdays(weekdays)
    return Cron(
        tuple(times),
        lambda day: day.month in in_months and day.year in in_years and on_day(day),
        zone,
    )


def _read_field(field: str, low: int, high: int, names: dict[str, int] | None = None) -> list[int]:
    """Return the numbers of a field such as 1,5-8,*/10 or MON-FRI."""

    def number(text: str) -> int:
        value = (names or {}).get(text.upper())
        return int(text) if value is None else value

    numbers: set[int] = set()
    for part in field.split(","):
        found = _PART.fullmatch(part)
        if found is None or (found[1] == "*" and found[2]):
            raise ValueError(field)
        first = low if found[1] == "*" else number(found[1])
        if found[2]:
            last = number(found[2])
        else:
            last = high if found[1] == "*" or found[3] else first
        step = int(found[3] or 1)
        if not low <= first <= last <= high or step < 1:
            raise ValueError(field)
        numbers.update(range(first, last + 1, step))
    return sorted(numbers)


def _read_days(field: str) -> _DayRule:
    """Return the rule of days of the month: numbers, L (the last) or 15W (the nearest weekday)."""
    if field == "L":
        return lambda day: day.day == _last(day)
    if field.endswith("W"):
        (wanted,) = _read_field(field[:-1], 1, 31)
        return lambda day: wanted <= _last(day) and day == _nearest_weekday(day.replace(day=wanted))
    days = frozenset(_read_field(field, 1, 31))
    return lambda day: day.day in days


def _read_weekdays(field: str) -> _DayRule:
    """Return the rule of days of the week: numbers or names, L, 6L (the last) or 3#2 (the second).

    Sunday is 1.
    """
    if field == "L":
        return lambda day: _weekday(day) == _WEEKDAYS["SAT"]
    if field.endswith("L"):
        (wanted,) = _read_field(field[:-1], 1, 7, _WEEKDAYS)
        return lambda day: _weekday(day) == wanted and day.day + 7 > _last(day)
    if "#" in field:
        name, _, count = field.partition("#")
        (wanted,), (nth,) = _read_field(name, 1, 7, _WEEKDAYS), _read_field(count, 1, 5)
        return lambda day: _weekday(day) == wanted and (day.day + 6) // 7 == nth
    weekdays = frozenset(_read_field(field, 1, 7, _WEEKDAYS))
    return lambda day: _weekday(day) in weekdays


def _weekday(day: date) -> int:
    return day.isoweekday() % 7 + 1


def _last(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def _nearest_weekday(day: date) -> date:
    """Return the nearest day from Monday to Friday within the month."""
    away = {5: -1, 6: 1}.get(day.weekday(), 0)
    if day.day == 1 and away == -1:
        away = 2
    if day.day == _last(day) and away == 1:
        away = -2
    return day + timedelta(days=away)
