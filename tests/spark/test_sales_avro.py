"""The sales jobs in Avro: windows by region to the cent, while a schema gains a column.

The published sample is used where its files are, and our own data set elsewhere.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from jobs.sales.artifacts import list_artifacts
from jobs.sales.avro import TopicSchemas, encode_sale
from jobs.sales.enrichment import ArtifactSettings, summarize
from jobs.sales.producing import send_messages
from jobs.sales.records import load_regions
from jobs.sales.summaries import format_totals, rank_totals
from penstock.errors import SchemaNotFoundError
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
from penstock.schemas import encode
from penstock.spark import session
from tests.spark.consuming import PASSWORD, USER
from tests.spark.sales_figures import SEED
from tests.spark.test_sales import SETS, Story, spread

# Messages of the topic at the marks of the published windows, and after each run.
_FIRST = 250
_MARKS = {
    250: "2021-10-03 22:10",
    862: "2021-10-03 22:20",
    1178: "2021-10-03 22:25",
    1497: "2021-10-03 22:30",
    1814: "2021-10-03 22:35",
    2050: "2021-10-03 22:39",
}
_BUSY = 500  # messages from here on have one key, so that the other partition is idle
_WAIT = timedelta(minutes=10)
_PUBLISHED = [
    "Asia & Pacific 1,593.74/226, Europe 833.89/111, Latin America 686.00/100, "
    "North America 274.57/43, Africa 216.70/30, Middle East 164.77/23, Unassigned 86.88/12, "
    "Arab States 58.92/8",
    "Asia & Pacific 1,828.41/259, Europe 878.79/121, Latin America 861.76/124, "
    "Africa 284.60/40, North America 284.56/44, Middle East 175.76/24, Unassigned 93.87/13, "
    "Arab States 78.89/11",
    "Asia & Pacific 1,744.52/248, Europe 948.64/136, Latin America 840.81/119, "
    "Africa 299.59/41, North America 282.59/41, Middle East 181.74/26, Unassigned 101.84/16, "
    "Arab States 64.92/8",
]


# The windows that the stream printed itself, earlier that day.
_PRINTED_MARKS = {
    250: "2021-10-03 21:15",
    543: "2021-10-03 21:20",
    1100: "2021-10-03 21:25",
    1670: "2021-10-03 21:30",
    2050: "2021-10-03 21:34",
}
_PRINTED = [
    "Asia & Pacific 1,065.47/153, Europe 632.16/84, Latin America 443.35/65, "
    "North America 189.70/30, Africa 137.81/19, Middle East 111.83/17, Unassigned 50.92/8, "
    "Arab States 36.96/4",
    "Asia & Pacific 2,632.26/374, Europe 1,415.06/194, Latin America 1,260.18/182, "
    "North America 436.32/68, Africa 419.42/58, Middle East 276.61/39, Unassigned 151.78/22, "
    "Arab States 96.87/13",
    "Asia & Pacific 3,130.59/441, Europe 1,679.65/235, Latin America 1,350.05/195, "
    "Africa 603.18/82, North America 573.19/81, Middle East 291.60/40, Unassigned 205.69/31, "
    "Arab States 162.78/22",
]


class NamedSchemas:
    """An Apicurio registry in memory: schemas by the names of their artifacts."""

    kind = FrameKind.APICURIO
    source = "stub"

    def __init__(self):
        self._versions = []

    def add(self, name, schema):
        key = SchemaKey.parse(f"apicurio:{len(self._versions) + 1}")
        number = len(self.versions(name)) + 1
        version = SchemaVersion(key, name, number, VersionStatus.AVAILABLE, schema, None)
        self._versions.append(version)

    def versions(self, name):
        return tuple(each for each in self._versions if each.name == name)

    def get(self, key):
        return next(each for each in self._versions if each.key == key)


@pytest.fixture
def registry(monkeypatch):
    schemas = NamedSchemas()
    monkeypatch.setattr(ArtifactSettings, "load", lambda _: schemas)
    return schemas


@pytest.fixture
def story(spark, kafka, keep_secret, tmp_path, capsys, monkeypatch):  # noqa: PLR0913, PLR0917
    monkeypatch.setattr(session, "build_session", lambda name: spark)
    figures = SETS[max(SETS)]  # the sample, if it is there
    told = Story(spark, kafka, keep_secret(USER, PASSWORD), tmp_path, figures, capsys)
    told.fill()
    return told


@pytest.mark.usefixtures("only_full_batches")
def test_enrichment_goes_on_when_the_schema_gains_a_column(story, registry, reader):
    (topic,), (totals,) = story.add_topics(1, partitions=2), story.add_topics(1)
    for name, schema in list_artifacts("x").items():
        registry.add(name.replace("x.summary.avro", totals).replace("x.avro", topic), schema)
    registry_flags = ("--registry-url", "http://unused", "--prefix", "x")
    rows, marks = story.load(), dict(spread(_MARKS))
    reports = []

    def send(start, end):
        schemas = TopicSchemas.load(registry, topic)
        places = range(_FIRST + start, _FIRST + end)
        messages = [encode_sale(schemas, rows[at], marks[at]) for at in places]
        busy = encode(1, schemas.key)
        send_messages(
            story.kafka,
            [
                message if at < _BUSY else replace(message, key=busy)
                for at, message in zip(places, messages, strict=True)
            ],
        )

    def enrich(*more):
        flags = ("--topics", topic, "--output-topic", totals, *registry_flags, *more)
        _, said = story.follow("enrich", "enrich", *flags, "--regions-file", story.figures.files[2])
        reports.extend(said)

    stops = story.figures.enriched
    for start, stop in pairwise((0, *stops[:-1])):
        send(start, stop)
        enrich()
    value = registry.versions(f"{topic}-value")[-1].schema
    channel = {"name": "channel", "type": ["null", "string"], "default": None}
    registry.add(f"{topic}-value", value | {"fields": [channel, *value["fields"]]})
    send(*stops[-2:])
    enrich("--output-table", reader.name.removeprefix("lake."))
    flags = ("--topics", totals, "--rows", "1000", *registry_flags)
    table, _ = story.run("results-avro", *flags)

    counts = [end - start for start, end in pairwise((0, *stops))]
    assert [(each["batch"], each["in"]) for each in reports] == [*enumerate(counts)]
    check_idle(reports, marks[_FIRST + stops[-2] - 1])
    windows = join_lines(table)
    assert windows == sum_up(rows[_FIRST:], [*marks.values()], story.load_regions())
    assert list(windows) == sorted(windows, reverse=True)
    amount = sum(row.amount for row in rows[_FIRST:])
    assert reader.query("SELECT sum(sales), sum(orders) FROM t") == [(2 * amount, 3_600)]
    if story.figures is SEED:
        starts = [f"2021-10-03 22:{minute}" for minute in (30, 25, 20)]
        assert [windows[start] for start in starts] == _PUBLISHED
        assert [*join_lines(summarize_printed(story, rows)).values()][:3] == _PRINTED


def join_lines(table):
    """Return the totals of each window by its start."""
    found = defaultdict(list)
    for region, amount, orders, start, _ in table:
        found[start].append(f"{region} {amount}/{orders}")
    return {start: ", ".join(lines) for start, lines in found.items()}


def check_idle(reports, last):
    """One partition has no more records, and the watermark follows those of the other one."""
    first, *_, final = ([end for *_, end in json.loads(each["offsets"])] for each in reports)
    assert sum(before == after for before, after in zip(first, final, strict=True)) == 1
    watermark = datetime.fromisoformat(reports[-1]["watermark"])
    assert abs(watermark - (last - _WAIT)) < timedelta(milliseconds=2)


def summarize_printed(story, rows):
    """Return the table that the stream printed itself, by the transform of the stream."""
    moments = dict(spread(_PRINTED_MARKS))
    sales = [
        (row.payment_id, row.amount, row.country, moments[at])
        for at, row in enumerate(rows)
        if at in moments
    ]
    frame = story.spark.createDataFrame(
        sales, "payment_id int, amount decimal(10,2), country string, timestamp timestamp"
    )
    regions = load_regions(story.spark, f"{story.folder.as_uri()}/spark/{story.figures.files[2]}")
    totals = summarize(frame, regions, "5 minutes")
    return format_totals(rank_totals(totals, "region"), "region").collect()


def sum_up(rows, moments, regions):
    """Return the totals of each window as printed, by its start, computed without Spark."""
    windows = defaultdict(lambda: defaultdict(lambda: (Decimal(), 0)))
    for row, moment in zip(rows, moments, strict=True):
        last = moment - timedelta(minutes=moment.minute % 5, seconds=moment.second)
        for start in (last, last - timedelta(minutes=5)):
            region = regions.get(row.country, "Unassigned")
            sales, orders = windows[f"{start:%Y-%m-%d %H:%M}"][region]
            windows[f"{start:%Y-%m-%d %H:%M}"][region] = sales + row.amount, orders + 1
    return {
        start: ", ".join(
            f"{region} {sales:,.2f}/{orders}"
            for region, (sales, orders) in sorted(
                totals.items(), key=lambda each: (-each[1][0], each[0])
            )
        )
        for start, totals in windows.items()
    }


def test_an_artifact_that_is_missing_is_named(registry):
    with pytest.raises(SchemaNotFoundError, match="stub has no artifact t-key, expected it to be"):
        TopicSchemas.load(registry, "t")
