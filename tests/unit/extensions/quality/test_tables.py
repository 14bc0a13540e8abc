"""`penstock quality` asks Athena: a sound table, and one with planted faults."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import (
    OperationError,
    PenstockError,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
)
from penstock.extensions.quality import Limits, QualitySettings, _sql
from penstock.extensions.quality.check import TableCheck
from penstock.extensions.quality.command import show
from penstock.kafka import FoundOffsets
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry

_ROOT = Path(__file__).parents[4]
_NOW = datetime(2026, 11, 21, 18, tzinfo=UTC)
_NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_OLD = _NOON - timedelta(days=9)
_SETTINGS = QualitySettings(
    workgroup="quality", since=2, limits=Limits(null_shares={"note": 0.6, "place": 0.6})
)
_PLACE = {"type": "record", "name": "Place", "fields": [{"name": "room", "type": "int"}]}
_TYPES = {
    "_event_time": pa.timestamp("us", tz="UTC"),
    "_topic": pa.string(),
    "_kafka_partition": pa.int32(),
    "_offset": pa.int64(),
    "_kafka_timestamp": pa.timestamp("us", tz="UTC"),
    "_schema_id": pa.string(),
    "_schema_version": pa.int32(),
    "device": pa.string(),
    "note": pa.string(),
    "place": pa.struct([("room", pa.int32())]),
}


class Kafka:
    """Topics whose partition 0 ends at 13; offset 8 of it is a tombstone."""

    def read_ends(self, topics):
        return {(topic, 0): 13 for topic in topics} | {("t", 1): 6}

    def look_up(self, runs):
        rest = {
            place: tuple(run for run in own if place != ("t", 0) or run != range(8, 9))
            for place, own in runs.items()
        }
        return {
            place: FoundOffsets(len(own) - len(rest[place]), 0, rest[place])
            for place, own in runs.items()
        }


_DEVICE = {"name": "device", "type": "string"}
_OPTIONAL = [
    {"name": name, "type": ["null", kind], "default": None}
    for name, kind in {"note": "string", "place": _PLACE}.items()
]


@pytest.fixture(scope="module")
def registered():
    """A registry, and the ids of two versions of a schema in it."""
    registry = MemoryRegistry()
    versions = [
        registry.register("r", {"type": "record", "name": "R", "fields": fields}).version
        for fields in ([_DEVICE], [_DEVICE, *_OPTIONAL])
    ]
    return Registries([registry]), [str(each.key) for each in versions]


@pytest.fixture(scope="module")
def registries(registered):
    return registered[0]


@pytest.fixture(scope="module")
def schema_ids(registered):
    return registered[1]


def row(schema_id, offset, *, partition=0, delay=timedelta(seconds=1), **values):
    """A row that Kafka received at noon; every value but the coordinates is given."""
    coordinates = (_NOON - delay, "t", partition, offset, _NOON, schema_id, 1)
    return dict.fromkeys(_TYPES) | dict(zip(_TYPES, coordinates, strict=False)) | values


def check(lake, athena, registries, name, rows, *, settings=_SETTINGS, kafka=None, told=None):  # noqa: PLR0913
    table = pa.table({key: pa.array([one[key] for one in rows], _TYPES[key]) for key in _TYPES})
    lake.make_iceberg(name, table)
    found = TableCheck(settings, f"{lake.database}.{name}", athena, registries, kafka)
    return found.run(_NOW, lambda *what: None if told is None else told.append(what))


def states(report):
    return {each.rule: each.state for each in report.rules}


def test_every_rule_holds(lake, athena, registries, schema_ids):
    first, second = schema_ids
    rows = [
        row(first, 10, device="a"),
        row(first, 11, device="b"),
        row(second, 12, device="c", note="x", place={"room": 1}),
        row(second, 3, partition=1, device="d"),
        # Kafka received it days ago, so it is not among the rows, but its offset is not missing.
        row(second, 4, partition=1, delay=timedelta(days=10), device="e", _kafka_timestamp=_OLD),
        row(second, 5, partition=1, device="f", note="y", place={"room": 2}),
    ]

    told = []

    report = check(lake, athena, registries, "whole", rows, kafka=Kafka(), told=told)

    assert [what for what, _, _ in told] == ["Athena answers query 1", "Athena answers query 2"]
    assert set(states(report).values()) == {"holds"}
    assert report.rows == 5
    assert [(day.day, day.rows) for day in report.days] == [("2026-11-21", 5)]
    assert [(str(each), each.missing_offsets, each.lag) for each in report.partitions] == [
        ("t/0", 0, 0),
        ("t/1", 0, 0),
    ]
    nulls = {each.column: (each.rows, each.nulls) for each in report.columns}
    assert (nulls["device"], nulls["note"], nulls["place.room"]) == ((5, 0), (3, 1), (2, 0))
    assert len(report.queries) == 2


_FAULTS = {
    "rows": "6 rows, expected at least 7",
    "coordinates": "_schema_version is null in 1 rows",
    "required-nulls": "device is null in 1 rows whose schema requires it; "
    "place.room is null in 1 rows whose schema requires it",
    "null-share": "there is no column colour; note is null in 100.00%, limit 50.00%",
    "repeated-records": "t/0 has 1 records again, the first at 5",
    "missing-offsets": "t/0 lacks 6 to 6; 1 offsets without a row are explained",
    "lag": "t/0 has 1 newer records",
    "late-events": "1 of 6 events are older than 3,600 s",
    "future-events": "1 of 6 events are more than 60 s ahead of Kafka",
}


def test_every_rule_fails(lake, athena, registries, schema_ids, capsys):
    first, second = schema_ids
    late, ahead = timedelta(hours=2), timedelta(minutes=-2)
    rows = [
        row(first, 5, device="a"),
        row(first, 5, device="a"),  # again
        row(first, 7, device=None),  # required; offset 6 is missing, and 8 is a tombstone
        row(second, 9, device="c", delay=late),
        row(second, 10, device="d", delay=ahead, place={"room": None}),
        row(second, 11, device="e", _schema_version=None),
    ]
    limits = Limits(least_rows=7, lag_records=0, null_shares={"note": 0.5, "colour": 0.5})
    settings = QualitySettings(workgroup="quality", since=2, limits=limits)

    report = check(lake, athena, registries, "faulty", rows, settings=settings, kafka=Kafka())

    assert set(states(report).values()) == {"failed"}
    details = {each.rule: each.detail for each in report.rules}
    assert details == _FAULTS
    show(report)
    printed = capsys.readouterr().out.replace(f"{lake.database}.faulty", "lake.readings")
    rules, _, cost = printed.rstrip().rpartition("\n")
    assert f"\n{rules}\n" in (_ROOT / "docs/quality.md").read_text()
    assert re.fullmatch(r"9 rules failed; 3 queries, [0-9,]+ bytes", cost)
    (partition,) = report.partitions
    assert (partition.missing_offsets, partition.tombstones, partition.unexplained) == (2, 1, 1)
    assert [(bucket.from_seconds, bucket.rows) for bucket in report.lateness if bucket.rows] == [
        (None, 1),
        (1, 4),
        (3600, 1),
    ]


def test_a_whole_number_that_a_double_rounds_is_no_null(lake, athena):
    """It is kept in the column of before, which a column of doubles replaced."""
    registry = MemoryRegistry()
    spot = {"type": "record", "name": "Spot", "fields": [{"name": "n", "type": "long"}]}
    fields = [{"name": "x", "type": "long"}, {"name": "spot", "type": spot}]
    version = registry.register("r", {"type": "record", "name": "R", "fields": fields}).version
    types = {name: kind for name, kind in _TYPES.items() if name.startswith("_")}
    values = {
        "x": [0.5, None, None], "_before_1_x": [None, 2**53 + 1, None],
        "spot": [{"n": 0.5}, {"n": None}, {"n": None}],
        "_before_1_spot": [{"n": 1}, {"n": 2**53 + 1}, None],
    }  # fmt: skip
    rows = [row(str(version.key), offset) for offset in (1, 2, 3)]
    old = pa.struct([("n", pa.int64())])
    kinds = (pa.float64(), pa.int64(), pa.struct([("n", pa.float64())]), old)
    notes = ("", "x before it became double", "", "spot before it became struct<n:double>")
    widened = [
        pa.field(name, kind, metadata={"doc": note} if note else None)
        for name, kind, note in zip(values, kinds, notes, strict=True)
    ]
    table = pa.table(
        [*([one[key] for one in rows] for key in types), *values.values()],
        pa.schema([*types.items(), *widened]),
    )
    lake.make_iceberg("widened", table)

    name = f"{lake.database}.widened"
    report = TableCheck(_SETTINGS, name, athena, Registries([registry])).run(_NOW)

    details = {each.rule: each.detail for each in report.failed}
    assert details["required-nulls"] == (
        "x is null in 1 rows whose schema requires it; "
        "spot.n is null in 1 rows whose schema requires it"
    )
    nulls = {each.column: (each.rows, each.nulls) for each in report.columns}
    assert (nulls["x"], nulls["spot"], nulls["spot.n"]) == ((3, 1), (3, 0), (3, 1))


def test_events_of_days_before_are_late_if_kafka_received_them_since(
    lake, athena, registries, schema_ids
):
    midnight, late = datetime(2026, 11, 19, tzinfo=UTC), timedelta(days=10)
    rows = [
        row(schema_ids[0], 10, device="a"),
        row(schema_ids[0], 11, delay=late, device="b"),
        row(schema_ids[0], 12, delay=late, device="c"),
        # Before the first row that is checked, and alone in a partition.
        row(schema_ids[0], 8, delay=late, device="d"),
        row(schema_ids[0], 5, partition=1, delay=late, device="e"),
        # Kafka received it days before too, in a topic that was created again since; it is older
        # than a job accepts; it is not late.
        row(schema_ids[0], 99, delay=late, device="f", _kafka_timestamp=_OLD),
        row(schema_ids[0], 6, delay=timedelta(days=40), device="g"),
        row(schema_ids[0], 9, device="h", _kafka_timestamp=midnight)
        | {"_event_time": midnight - timedelta(seconds=1)},
    ]

    report = check(lake, athena, registries, "behind", rows, kafka=Kafka())

    (failed,) = report.failed
    assert (failed.rule, failed.found, failed.detail) == (
        "late-events",
        0.666667,
        "4 of 6 events are older than 3,600 s, 4 of them of days before those checked",
    )
    (partition,) = report.partitions
    assert (partition.rows, partition.first_offset, partition.last_offset) == (3, 10, 12)
    assert (partition.missing_offsets, partition.lag, report.rows) == (0, 0, 1)


def test_late_events_are_found_though_no_other_came(lake, athena, registries, schema_ids):
    rows = [row(schema_ids[0], at, delay=timedelta(days=10), device="a") for at in range(3)]

    report = check(lake, athena, registries, "late", rows, kafka=Kafka())

    found = {each.rule: each.detail for each in report.failed}
    assert found["late-events"] == (
        "3 of 3 events are older than 3,600 s, 3 of them of days before those checked"
    )
    (lag,) = (each for each in report.rules if each.rule == "lag")
    assert lag.detail == "no partition has a row"


def test_a_topic_that_was_created_again_fails(lake, athena, registries, schema_ids):
    # Partition 0 ends at 13, and there is no partition 2 any more.
    places = [(0, 13), (1, 5), (2, 3)]
    rows = [row(schema_ids[0], offset, partition=part, device="a") for part, offset in places]

    report = check(lake, athena, registries, "again", rows, kafka=Kafka())

    (lag,) = report.failed
    assert (lag.rule, lag.found, lag.detail) == (
        "lag",
        None,
        "t/0 was created again or shortened: it ends at 13, and a row has 13; "
        "t/2 was created again or shortened: it ends at 0, and a row has 3",
    )
    assert [(each.end_offset, each.lag) for each in report.partitions] == [
        (13, None),
        (6, 0),
        (0, None),
    ]


def test_rows_of_unknown_schemas_fail_and_leave_the_others_to_be_checked(
    lake, athena, registries, schema_ids
):
    foreign = "confluent:7"
    rows = [row(schema_ids[0], 1, device="a"), row(foreign, 2, device="b"), row("?", 3)]

    report = check(lake, athena, registries, "foreign", rows)

    found = {each.rule: (each.state, each.found, each.detail) for each in report.rules}
    assert found["coordinates"] == (
        "failed",
        2,
        "1 rows have no known schema: found '?', expected the text of a schema's key; 1 rows have "
        "no known schema: schema confluent:7 is in no registry of this program, expected one of "
        "glue",
    )
    assert found["required-nulls"] == (
        "holds",
        0,
        "no required field is null; 2 rows have no known schema",
    )


@pytest.mark.parametrize(
    "error", [RegistryAccessDeniedError, RegistryAnswerError, RegistryUnavailableError]
)
def test_a_registry_that_does_not_tell_schemas_ends_the_check(lake, athena, schema_ids, error):
    class Down(MemoryRegistry):
        def get(self, key):
            raise error("it does not tell")

    with pytest.raises(PenstockError, match="it does not tell") as raised:
        name = f"of_{error.__name__.lower()}"
        check(lake, athena, Registries([Down()]), name, [row(schema_ids[0], 1)])

    assert raised.type is error


def test_rows_beside_and_parked_records_explain_missing_offsets(lake, athena, registries):
    def make(name, offsets):
        return check(lake, athena, None, name, [row("?", each) for each in offsets])

    make("other", [2])
    columns = {"topic": "string", "kafka_partition": "int", "kafka_offset": "bigint"}
    parked = '{"topic": "t", "kafka_partition": 0, "kafka_offset": 3}'
    lake.make_lines("parked_ones", columns, parked)
    settings = QualitySettings(
        workgroup="quality",
        beside=(f"{lake.database}.other",),
        parked_records=f"{lake.database}.parked_ones",
    )
    rows = [row("?", each) for each in (1, 4, 6)]

    report = check(lake, athena, None, "apart", rows, settings=settings)

    (partition,) = report.partitions
    assert (partition.missing_offsets, partition.unexplained) == (3, 1)
    assert [(gap.first_offset, gap.last_offset) for gap in report.gaps] == [(5, 5)]
    assert states(report)["required-nulls"] == "not-checked"


def test_each_partition_has_a_share_of_the_runs_that_are_looked_up(lake, athena, monkeypatch):
    monkeypatch.setattr(_sql, "MOST_GAPS", 2)
    rows = [row("?", offset, partition=part) for part in (0, 1) for offset in (1, 3, 6)]

    settings = QualitySettings(workgroup="quality")
    report = check(lake, athena, None, "shared", rows, settings=settings)

    (failed,) = report.failed
    assert (failed.found, failed.detail) == (
        6,
        "t/0 lacks 2 to 2; t/1 lacks 2 to 2; 4 offsets were not looked up, as there are too many",
    )
    assert [(each.unexplained, each.unread) for each in report.partitions] == [(3, 2), (3, 2)]


def test_an_empty_table_and_one_without_coordinates(lake, athena, registries):
    report = check(lake, athena, registries, "nothing_yet", [])

    assert [each.rule for each in report.failed] == ["rows"]
    with pytest.raises(OperationError, match=r"found no column _event_time, _kafka_partition, "):
        TableCheck(_SETTINGS, f"{lake.database}.parked_ones", athena).run(_NOW)
    with pytest.raises(OperationError, match=r"^GetTable was refused: EntityNotFoundException: "):
        TableCheck(_SETTINGS, f"{lake.database}.missing", athena).run(_NOW)
