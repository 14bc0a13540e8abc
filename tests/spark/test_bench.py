"""The rungs of Spark: ways that are compared give the same rows, and whole jobs can be repeated."""

from __future__ import annotations

import pytest

from bench.brokers import running_broker
from bench.ladder import race, ratio, speeds
from bench.spark.growth import fit_exponent, routed_batch
from bench.spark.jobs import BegunJobs
from bench.spark.records import BASE_FIELDS, make_frames, make_version
from bench.spark.ways import (
    COORDINATES,
    Outlet,
    Product,
    read_by_arrow,
    read_by_filters,
    read_by_pandas,
    read_cached,
    read_one_schema,
)
from bench.spark.world import World
from penstock.schemas import canonical_form
from penstock.spark.settings.sinks import SinkSettings

_RECORDS = 1_000


@pytest.fixture(scope="module")
def world(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    with running_broker(folder / "broker") as servers:
        yield World(spark, servers, folder / "world", _RECORDS)


def _by_product(world, versions, records):
    found = []
    sink = Outlet(lambda rows: found.append(rows.cache()) or found[0].count())
    counts = Product(world, versions, outlet=sink).take(records)
    assert counts.rows == found[0].count()
    return found[0]


def _same(rows, others):
    """Whether two frames have the same rows in the same columns."""
    assert rows.columns == others.columns
    return set(rows.collect()) == set(others.collect())


def test_versions_are_all_different():
    versions = [make_version(number) for number in range(200)]

    assert len({canonical_form(version.schema) for version in versions}) == 200
    assert len({version.key for version in versions}) == 200
    assert [len(make_version(number).schema["fields"]) for number in (0, 49, 50, 199)] == [
        BASE_FIELDS, 69, BASE_FIELDS, 69,
    ]  # fmt: skip


def test_ways_are_timed_there_and_back():
    called = []

    def way(name, seconds):
        return lambda: called.append(name) or seconds

    turns = race({"ours": way("ours", 2.0), "theirs": way("theirs", 6.0)})

    assert called[:4] == ["ours", "theirs", "theirs", "ours"]
    assert turns == {"ours": [2.0] * 5, "theirs": [6.0] * 5}
    assert ratio(turns, "ours", "theirs") == 3
    assert speeds(turns, 12)["ours_rows_per_second"] == 6


@pytest.mark.parametrize(
    ("costs", "exponent"),
    [
        ({1: 3.0, 2: 6.0, 4: 12.0}, 1),
        ({10: 0.5, 100: 50.0}, 2),
        ({5: 7.0, 50: 7.0, 500: 7.0}, 0),
    ],
)
def test_the_exponent_of_growth_is_that_of_the_law_that_fits_best(costs, exponent):
    assert fit_exponent(costs) == pytest.approx(exponent, abs=1e-9)


@pytest.mark.kafka
def test_ways_to_read_one_version_give_the_same_rows(world):
    version = make_version(0)
    topic = world.topic("one", make_frames([version]))

    rows = _by_product(world, [version], world.read(topic))

    assert (rows.count(), len(rows.columns)) == (_RECORDS, BASE_FIELDS + len(COORDINATES))
    assert _same(rows, read_one_schema(world.read(topic), version, [version]))
    assert _same(rows, read_by_arrow(world.read(topic), version))
    assert _same(rows, read_by_pandas(world.read(topic), version))


@pytest.mark.kafka
def test_ways_to_read_many_versions_give_the_same_rows(world):
    versions = [make_version(number) for number in (0, 3, 50)]
    topic = world.topic("many", make_frames(versions))

    rows = _by_product(world, versions, world.read(topic))

    assert (rows.count(), len(rows.columns)) == (_RECORDS, BASE_FIELDS + 3 + len(COORDINATES))
    assert _same(rows, read_by_filters(world.read(topic), versions))
    assert _same(rows, read_cached(world.read(topic), versions).select(rows.columns))


@pytest.mark.kafka
def test_damaged_records_and_new_versions_are_counted(world):
    versions = [make_version(number) for number in range(2)]
    topic = world.topic("poison", make_frames(versions, 0.01))

    counts = Product(world, versions[:1], versions[1:]).take(world.read(topic))

    assert (counts.rows, counts.new_schemas) == (_RECORDS * 99 // 100, 1)
    assert sum(counts.errors.values()) == _RECORDS // 100


@pytest.mark.kafka
def test_a_job_reads_the_same_records_again(world, lake_folder):
    sinks = {"iceberg": SinkSettings("errors", "parked", lake_table="bench.readings")}
    lake = lake_folder / "bench/readings"
    jobs = BegunJobs(world, sinks, [lake], _RECORDS)

    first, second = jobs.run("iceberg"), jobs.run("iceberg")

    assert min(first, second) > 0
    assert world.spark.table("lake.bench.readings").count() == 400 + _RECORDS


@pytest.mark.kafka
def test_records_of_each_route_are_rows(world):
    routed_batch(world, 3)()
