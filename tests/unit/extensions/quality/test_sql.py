"""The SQL of a check: what is quoted, what prunes partitions, and how many columns are at once."""

from __future__ import annotations

from datetime import UTC, datetime

from penstock.extensions.quality._sql import (
    COLUMNS_AT_ONCE,
    Span,
    Window,
    write_coordinates,
    write_gaps,
    write_parked,
    write_profile,
)
from penstock.extensions.quality._table import Column

_WINDOW = Window(
    "lake.readings", datetime(2026, 11, 14, tzinfo=UTC), datetime(2026, 10, 15, tzinfo=UTC)
)
_SPANS = {("it's", 0): Span(5, 9), ("a", 1): Span(0, 3)}


def test_a_profile_reads_the_days_that_are_checked() -> None:
    columns = [Column(("place", 'ro"om'), "int")]

    (sql,) = write_profile(_WINDOW, columns, 1_000, 60_000)

    assert 'FROM "lake"."readings"\n  WHERE "_event_time" >= TIMESTAMP \'2026-11-14' in sql
    assert 'count("place"."ro""om") AS "v0"' in sql
    assert 'count_if("_delay" > 1000) AS "late"' in sql


def test_a_profile_of_the_whole_table_has_no_condition() -> None:
    (sql,) = write_profile(Window("lake.readings"), [], 0, 0)

    assert "WHERE" not in sql
    assert 'min("_offset") AS "first_offset"' in sql


def test_many_columns_are_asked_in_several_queries() -> None:
    columns = [Column((f"c{number}",), "int") for number in range(2 * COLUMNS_AT_ONCE + 1)]

    queries = write_profile(_WINDOW, columns, 0, 0)

    assert [sql.count('AS "v') for sql in queries] == [COLUMNS_AT_ONCE, COLUMNS_AT_ONCE, 1]


def test_offsets_are_those_of_the_spans_from_the_earliest_day_on() -> None:
    for sql in (
        write_coordinates(_WINDOW, _SPANS, 1_000),
        write_gaps(_WINDOW, ["lake.others"], _SPANS),
    ):
        assert "(VALUES ('a', 1, 0, 3), ('it''s', 0, 5, 9)) AS span" in sql
        assert "\"_event_time\" >= TIMESTAMP '2026-10-15 00:00:00 UTC'" in sql
    assert '"lake"."others"' in sql
    assert "'it''s', 0, 5, 9" in write_parked("lake.parked_records", _SPANS)
