"""The sales jobs in Avro: windows by region to the cent, while a schema gains a column.

The published sample is used where its files are, and our own data set elsewhere.
"""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from jobs.sales.artifacts import list_artifacts
from jobs.sales.avro import TopicSchemas, encode_sale
from jobs.sales.enrichment import ArtifactSettings, summarize
from jobs.sales.generated import COLUMNS, write_csv
from jobs.sales.producing import send_messages
from jobs.sales.records import load_regions
from jobs.sales.summaries import format_totals, rank_totals
from localcloud.testing import wait_until
from penstock.errors import SchemaNotFoundError
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
from penstock.schemas import decode, encode
from penstock.spark import session
from penstock.spark.query.source import source_options
from penstock.spark.settings.consume import ReadSettings
from tests.spark.consuming import PASSWORD, SECONDS, USER
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
_PRODUCED = 200  # messages that `produce-avro` writes
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
        self.asked = []  # the ids that were looked up

    def add(self, name, schema):
        key = SchemaKey.parse(f"apicurio:{len(self._versions) + 1}")
        number = len(self.versions(name)) + 1
        version = SchemaVersion(key, name, number, VersionStatus.AVAILABLE, schema, None)
        self._versions.append(version)

    def versions(self, name):
        return tuple(each for each in self._versions if each.name == name)

    def get(self, key):
        self.asked.append(key)
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


class Enrichment:
    """A topic of sales in Avro, the stream that enriches them, and the topic of its totals."""

    def __init__(self, story, registry):
        self.story, self.registry = story, registry
        (self.topic,), (self.totals,) = story.add_topics(1, partitions=2), story.add_topics(1)
        for name, schema in list_artifacts("x").items():
            named = name.replace("x.summary.avro", self.totals).replace("x.avro", self.topic)
            registry.add(named, schema)
        self.flags = ("--registry-url", "http://unused", "--prefix", "x")
        self.rows, self.marks = story.load(), dict(spread(_MARKS))
        self.reports = []

    def produce(self, count):
        """Write the first messages by the command for it, at the times of the marks."""
        file = self.story.folder / "spark/head.csv"
        file.write_text(write_csv(COLUMNS, self.rows[_FIRST : _FIRST + count]))
        first, then, *_ = _MARKS
        times = (datetime.fromisoformat(f"{_MARKS[at]}:00+00:00") for at in (first, then))
        since, end = times
        rate = (then - first) / (end - since).total_seconds()
        timing = ("--since", since.isoformat(), "--rate", str(rate))
        files = ("--topic", self.topic, "--sales-file", file.name)
        self.story.run("produce-avro", *files, *timing, *self.flags)

    def send(self, start, end):
        """Write the messages from one place of the topic to another, in the newest schema."""
        schemas = TopicSchemas.load(self.registry, self.topic)
        places = range(_FIRST + start, _FIRST + end)
        messages = [encode_sale(schemas, self.rows[at], self.marks[at]) for at in places]
        busy = encode(1, schemas.key)
        send_messages(
            self.story.kafka,
            [
                message if at < _BUSY else replace(message, key=busy)
                for at, message in zip(places, messages, strict=True)
            ],
        )

    def add_column(self):
        """Register a version of the values with one more field."""
        name = f"{self.topic}-value"
        value = self.registry.versions(name)[-1].schema
        channel = {"name": "channel", "type": ["null", "string"], "default": None}
        self.registry.add(name, value | {"fields": [channel, *value["fields"]]})

    def run(self, *more, trigger="available-now"):
        """Run the stream until it ends."""
        flags = ("--topics", self.topic, "--output-topic", self.totals, *self.flags, *more)
        regions = ("--regions-file", self.story.figures.files[2])
        _, said = self.story.follow("enrich", "enrich", *flags, *regions, "--trigger", trigger)
        self.reports.extend(said)

    @contextmanager
    def running(self, end, *more):
        """Run the stream meanwhile, and stop it once it has read all messages before `end`."""
        streams = self.story.spark.streams
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(self.run, *more, trigger="1 second")
            try:
                wait_until("it runs", lambda: run.done() or streams.active, SECONDS)
                yield
                wait_until("it has read all", lambda: run.done() or self._ends_at(end), SECONDS)
                for query in streams.active:
                    query.processAllAvailable()  # until Spark has reported the last batch
            finally:
                for query in streams.active:
                    query.stop()
            run.result(SECONDS)

    def _ends_at(self, end):
        """Return whether the last batch that is committed ends there."""
        folder = self.story.folder / "checkpoints/enrich"
        last = max(int(each.name) for each in (folder / "commits").glob("[0-9]*"))
        *_, ends = (folder / "offsets" / str(last)).read_text().splitlines()
        return sum(json.loads(ends)[self.topic].values()) == end


@pytest.mark.usefixtures("only_full_batches")
def test_enrichment_goes_on_when_the_schema_gains_a_column(story, registry, reader):
    enrichment, stops = Enrichment(story, registry), story.figures.enriched
    enrichment.produce(_PRODUCED)
    for start, stop in pairwise((_PRODUCED, *stops[:-1])):
        enrichment.send(start, stop)
        enrichment.run()
    with enrichment.running(stops[-1], "--output-table", reader.name.removeprefix("lake.")):
        enrichment.add_column()
        enrichment.send(*stops[-2:])
    flags = ("--topics", enrichment.totals, "--rows", "1000", *enrichment.flags)
    table, _ = story.run("results-avro", *flags)

    assert registry.asked == [registry.versions(f"{enrichment.topic}-value")[-1].key]
    reports, rows, marks = enrichment.reports, enrichment.rows, enrichment.marks
    ends = [sum(end for *_, end in json.loads(each["offsets"])) for each in reports]
    assert (ends[: len(stops) - 1], ends[-1]) == ([*stops[:-1]], stops[-1])
    assert [each["in"] for each in reports] == [end - start for start, end in pairwise((0, *ends))]
    assert [each["batch"] for each in reports] == [*range(len(reports))]
    check_idle(reports[: len(stops)], marks[_FIRST + stops[-2] - 1])
    check_headers(enrichment)
    windows = join_lines(table)
    assert windows == sum_up(rows[_FIRST:], [*marks.values()], story.load_regions())
    assert list(windows) == sorted(windows, reverse=True)
    amount = sum(row.amount for row in rows[_FIRST:])
    assert reader.query("SELECT sum(sales), sum(orders) FROM t") == [(2 * amount, 3_600)]
    if story.figures is SEED:
        starts = [f"2021-10-03 22:{minute}" for minute in (30, 25, 20)]
        assert [windows[start] for start in starts] == _PUBLISHED
        assert [*join_lines(summarize_printed(story, rows)).values()][:3] == _PRINTED


def check_headers(enrichment):
    """Each total tells the query, the batch and the offsets that it is of; its key is an int."""
    options = source_options(enrichment.story.kafka, ReadSettings(topics=(enrichment.totals,)))
    records = enrichment.story.spark.read.format("kafka").options(**options).load().collect()
    schemas = TopicSchemas.load(enrichment.registry, enrichment.totals)
    headers = [{each.key: bytes(each.value).decode() for each in it.headers} for it in records]

    found = {(each["query"], int(each["batch"]), each["offsets"]) for each in headers}
    reports = enrichment.reports
    assert found == {(each["query"], each["batch"], each["offsets"]) for each in reports}
    assert len({each["query"] for each in reports}) == 1
    for record in records:
        total = decode(bytes(record.value), schemas.value.schema)
        assert decode(bytes(record.key), schemas.key) == total["window_start"]


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
