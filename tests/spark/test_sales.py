"""The sales jobs on a real broker print the tables of two data sets, to the cent and in order.

Our own data set is always checked. The published sample is checked as well where its files are: in
the folder SALES, or beside the clone.
"""

from __future__ import annotations

import json
import os
import secrets
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import pairwise
from pathlib import Path

import pytest

from jobs.sales import main as sales
from jobs.sales.generated import COLUMNS, write_csv
from jobs.sales.producing import build_message, send_messages
from jobs.sales.records import load_regions, load_sales
from penstock.errors import CheckpointError, SettingsError
from penstock.kafka import Security, Topic, apply_topics
from penstock.spark import session
from penstock.spark.query.source import source_options
from penstock.spark.settings.consume import ReadSettings
from systems.clusters import PRODUCER, logged_in
from tests.spark.consuming import PASSWORD, USER
from tests.spark.sales_figures import OWN, SEED, WINDOWS_STOP

_TAIL, _REGIONS = 1_986, 2_050  # sales from the first on are written by `produce`
_LATER = 1_500
_GIVEN = os.environ.get("SALES")
SAMPLE = Path(_GIVEN or Path(__file__).parents[3] / "shared/data/sales")
SETS = {"own": OWN} | ({"sample": SEED} if _GIVEN or SAMPLE.is_dir() else {})


class Story:
    """A data set, its topics, and the commands that are run on them."""

    def __init__(self, spark, brokers, secret_arn, folder, figures, capsys):  # noqa: PLR0913, PLR0917
        self.spark, self.brokers, self.folder, self.figures = spark, brokers, folder, figures
        self._capsys = capsys
        self.kafka = brokers.settings(Security.SCRAM, secret_arn=secret_arn)
        self._flags = [
            *("--bootstrap-servers", ",".join(self.kafka.bootstrap_servers)),
            *("--security", "scram", "--secret-arn", secret_arn),
            *("--ca-file", self.kafka.ca_file),
        ]
        self._bucket = ["--bucket", folder.as_uri()]

    def fill(self):
        """Put the files of the data set into the bucket."""
        if self.figures is OWN:
            self.run("generate")
            return
        (self.folder / "spark").mkdir()
        for name in self.figures.files:
            (self.folder / "spark" / name).symlink_to(SAMPLE.resolve() / name)

    def run(self, command, *flags):
        """Run a command; return the cells of each row that it printed, and its reports."""
        self._capsys.readouterr()
        login = [] if command == "generate" else self._flags
        sales.main([command, *login, *self._bucket, *flags])
        lines = self._capsys.readouterr().out.splitlines()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
        return rows[1:], [json.loads(line) for line in lines if line.startswith("{")]

    def follow(self, command, name, *flags):
        """Run a streaming command to the end of its topics, with a checkpoint by a name."""
        place = f"{self.folder.as_uri()}/checkpoints/{name}"
        return self.run(command, "--checkpoint", place, "--trigger", "available-now", *flags)

    def load(self):
        """Return the rows of both files."""
        folder = f"{self.folder.as_uri()}/spark"
        files = self.figures.files[:2]
        return [
            row for name in files for row in load_sales(self.spark, f"{folder}/{name}").collect()
        ]

    def load_regions(self):
        """Return the region of each country."""
        path = f"{self.folder.as_uri()}/spark/{self.figures.files[2]}"
        return {row.country: row.region for row in load_regions(self.spark, path).collect()}

    def add_topics(self, count, partitions=1):
        """Create topics whose records keep their timestamps, however old they are."""
        names = [f"sales-{secrets.token_hex(4)}" for _ in range(count)]
        properties = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
        with logged_in(self.brokers, PRODUCER):
            iam = self.brokers.settings(Security.IAM)
            apply_topics(iam, [Topic(name, partitions, properties=properties) for name in names])
        self.brokers.allow(USER, names, "READ", "WRITE")
        return names

    def send(self, topic, rows, marks, start, end):
        """Write the rows from one message to another, at the times that the marks set."""
        messages = [
            build_message(topic, rows[at], moment) for at, moment in list(spread(marks))[start:end]
        ]
        send_messages(self.kafka, messages)


def spread(marks):
    """Yield each message with its time, evenly between the marks."""
    times = [(at, datetime.fromisoformat(text).replace(tzinfo=UTC)) for at, text in marks.items()]
    for (first, begin), (last, end) in pairwise(times):
        for at in range(first, last):
            yield at, begin + (end - begin) * ((at - first) / (last - first))


@pytest.fixture(params=SETS)
def story(request, spark, kafka, keep_secret, tmp_path, capsys, monkeypatch):  # noqa: PLR0913, PLR0917
    monkeypatch.setattr(session, "build_session", lambda name: spark)
    told = Story(spark, kafka, keep_secret(USER, PASSWORD), tmp_path, SETS[request.param], capsys)
    told.fill()
    return told


def test_every_table_is_right_to_the_cent(story):
    figures, rows = story.figures, story.load()
    first, _, regions = figures.files
    by_region = ("--by", "region", "--regions-file", regions)
    topic, second, totals, windows = story.add_topics(4)
    marks, begin = figures.country_marks, f"{figures.country_marks[0]}:00+00:00"
    found, reports = {}, []

    def follow_totals():
        table, said = story.follow("totals", "country", "--topics", topic)
        reports.extend(said)
        return table

    story.run("seed", "--topic", topic, "--sales-file", first, "--since", begin)
    summary, _ = story.run("summarize", "--topics", topic)
    found["after 250"] = follow_totals()
    for start, stop in pairwise((250, 652, WINDOWS_STOP, _TAIL)):
        story.send(topic, rows, marks, start, stop)
        if stop in figures.stops:
            found[f"after {stop}"] = follow_totals()
        elif stop == WINDOWS_STOP:
            table, _ = story.follow("windows", "windows", "--topics", topic, "--rows", "1000")
            found |= split_windows(table, "country", 10)
    (story.folder / "spark/tail.csv").write_text(write_csv(COLUMNS, rows[_TAIL:]))
    story.run("produce", "--topic", topic, "--sales-file", "tail.csv", "--rate", "10000")
    found["after 2050"] = follow_totals()

    story.send(second, rows, figures.region_marks, 0, _REGIONS)
    found["by region"], _ = story.follow("totals", "region", "--topics", second, *by_region)
    story.follow("windows", "in", "--topics", second, *by_region, "--output-topic", windows)
    in_windows, _ = story.run("results", "--topics", windows, "--rows", "1000", *by_region)
    found |= split_windows(in_windows, "region", 10)
    limit = ("--max-offsets-per-trigger", "1100")
    story.follow("totals", "out", "--topics", second, "--output-topic", totals, *limit)
    results, _ = story.run("results", "--topics", totals)
    story.run("draw", "--topics", f"{totals},{windows}")

    assert {name: show(found[name]) for name in figures.tables} == figures.tables
    assert (summary, results) == (found["after 250"], found["after 2050"])
    check_reports(reports, topic, figures)
    check_file(story.folder / "spark_output/sales_by_country.csv", summary, figures.countries[0])
    check_records(story.spark, story.kafka, totals, second)
    check_pictures(story.folder / "spark_output", figures.tables)


@pytest.mark.parametrize("story", ["own"], indirect=True)
def test_a_new_checkpoint_replaces_no_window_by_a_part_of_it(story):
    rows, marks = story.load(), story.figures.region_marks
    topic, totals, expected = story.add_topics(3)
    later = dict(spread(marks))[_LATER] - timedelta(minutes=10)  # the length of a window

    story.send(topic, rows, marks, 0, _LATER)
    story.follow("windows", "old", "--topics", topic, "--output-topic", totals)
    story.send(topic, rows, marks, _LATER, _TAIL)
    with pytest.raises(CheckpointError, match="has totals by country, found --by region"):
        story.follow("windows", "old", "--topics", topic, "--by", "region")
    start = ("--starting", later.isoformat())
    story.follow("windows", "new", "--topics", topic, "--output-topic", totals, *start)
    story.send(topic, rows, marks, _TAIL, _REGIONS)
    story.follow("windows", "new", "--topics", topic, "--output-topic", totals)
    story.follow("windows", "whole", "--topics", topic, "--output-topic", expected)

    found, whole = (
        story.run("results", "--topics", each, "--rows", "10000")[0] for each in (totals, expected)
    )
    assert found == whole


def split_windows(table, by, rows):
    """Return the first rows of each window, as a table with the name of its start."""
    tables = {}
    for *total, start, _ in table:
        tables.setdefault(f"{by} {start}", []).append(total)
    return {name: found[:rows] for name, found in tables.items()}


def show(table):
    return ", ".join(f"{name} {amount}/{orders}" for name, amount, orders in table)


def check_reports(reports, topic, figures):
    """Each batch reports what it read, from where to where, and the rows that it wrote."""
    stops = figures.stops
    assert [(each["in"], each["out"], each["left_out"]) for each in reports] == [
        (end - start, count, 0)
        for (start, end), count in zip(pairwise((0, *stops)), figures.countries, strict=True)
    ]
    assert [each["batch"] for each in reports] == [*range(len(stops))]
    assert [json.loads(each["offsets"]) for each in reports] == [[[topic, 0, at]] for at in stops]


def check_pictures(folder, tables):
    """The windows have the newest totals, and the lines end at those of all sales."""
    drawn = (folder / "sales_in_windows.svg").read_text()
    for name, table in tables.items():
        if name.startswith("region"):
            region, _, amount = table.split("/")[0].rpartition(" ")
            start = name.split()[-1]
            assert f"{escape(region)}, {start}: {amount}" in drawn
    country, _, amount = tables["after 2050"].split("/")[0].rpartition(" ")
    assert f"{country}: {amount}" in (folder / "running_totals.svg").read_text()


def check_file(file, summary, countries):
    """The file is one object, with a header and every country."""
    header, *lines = file.read_text().splitlines()

    assert header == "country|sales|orders"
    assert len(lines) == countries
    assert [line.split("|") for line in lines[: len(summary)]] == summary


def check_records(spark, kafka, topic, source):
    """Each record tells the query, the batch and the offsets that it is of."""
    options = source_options(kafka, ReadSettings(topics=(topic,)))
    records = spark.read.format("kafka").options(**options).load()
    headers = records.selectExpr(
        "transform(headers, each -> concat(each.key, '=', string(each.value))) AS headers"
    )
    told = {tuple(row.headers) for row in headers.distinct().collect()}

    assert len({query for query, *_ in told}) == 1
    assert sorted(others for _, *others in told) == [
        [f"batch={at}", f'offsets=[["{source}", 0, {end}]]']
        for at, end in enumerate((1_100, 2_050))
    ]


def test_an_unknown_command_names_those_there_are():
    with pytest.raises(SettingsError, match=r"found command 'sell', expected generate, seed, "):
        sales.main(["sell"])
