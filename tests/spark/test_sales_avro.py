"""The sales jobs in Avro: windows by region to the cent, while a schema gains a column.

The published sample is used where its files are, and our own data set elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal

import pytest

from jobs.sales.artifacts import list_artifacts
from jobs.sales.avro import TopicSchemas, encode_sale
from jobs.sales.enrichment import ArtifactSettings
from jobs.sales.producing import send_messages
from penstock.errors import SchemaNotFoundError
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
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
_STOPS = (1_627, 1_754, 1_800)
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
    topic, totals = story.add_topics(2)
    for name, schema in list_artifacts("x").items():
        registry.add(name.replace("x.summary.avro", totals).replace("x.avro", topic), schema)
    registry_flags = ("--registry-url", "http://unused", "--prefix", "x")
    rows, marks = story.load(), dict(spread(_MARKS))
    reports = []

    def send(start, end):
        schemas = TopicSchemas.load(registry, topic)
        places = range(_FIRST + start, _FIRST + end)
        send_messages(story.kafka, [encode_sale(schemas, rows[at], marks[at]) for at in places])

    def enrich(*more):
        flags = ("--topics", topic, "--output-topic", totals, *registry_flags, *more)
        _, said = story.follow("enrich", "enrich", *flags, "--regions-file", story.figures.files[2])
        reports.extend(said)

    send(0, _STOPS[0])
    enrich()
    send(_STOPS[0], _STOPS[1])
    enrich()
    value = registry.versions(f"{topic}-value")[-1].schema
    channel = {"name": "channel", "type": ["null", "string"], "default": None}
    registry.add(f"{topic}-value", value | {"fields": [channel, *value["fields"]]})
    send(_STOPS[1], _STOPS[2])
    enrich("--output-table", reader.name.removeprefix("lake."))
    flags = ("--topics", totals, "--rows", "1000", *registry_flags)
    table, _ = story.run("results-avro", *flags)

    assert [(each["batch"], each["in"]) for each in reports] == [(0, 1_627), (1, 127), (2, 46)]
    found = defaultdict(list)
    for region, amount, orders, start, _ in table:
        found[start].append(f"{region} {amount}/{orders}")
    windows = {start: ", ".join(lines) for start, lines in found.items()}
    assert windows == sum_up(rows[_FIRST:], [*marks.values()], story.load_regions())
    assert list(windows) == sorted(windows, reverse=True)
    amount = sum(row.amount for row in rows[_FIRST:])
    assert reader.query("SELECT sum(sales), sum(orders) FROM t") == [(2 * amount, 3_600)]
    if story.figures is SEED:
        starts = [f"2021-10-03 22:{minute}" for minute in (30, 25, 20)]
        assert [windows[start] for start in starts] == _PUBLISHED


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
