"""The rungs of Spark: ways that are compared give the same rows, and whole jobs can be repeated."""

from __future__ import annotations

import pytest

from bench.ladder import Form, race, ratio, speeds
from bench.rungs import routes
from bench.rungs.changes import CHANGES
from bench.rungs.decoding import DECODING
from bench.rungs.peers import PEERS
from bench.rungs.rows import ROWS
from bench.rungs.windows import WINDOWS
from bench.spark import world as worlds
from bench.spark.growth import routed_batch
from bench.spark.jobs import BegunJobs
from bench.spark.records import BASE_FIELDS, make_frames, make_sized_frames, make_version
from bench.spark.ways import (
    COORDINATES,
    Outlet,
    Product,
    read_by_filters,
    read_cached,
    read_one_schema,
)
from bench.spark.world import World
from penstock.schemas import canonical_form
from penstock.spark.decoding.jar import load_jar
from systems.brokers import running_broker
from tests.spark.sinks import sink_settings

_RECORDS = 1_600
_FORM = Form(calls=10, records=_RECORDS, turns=1)  # the fewest with whole shares


@pytest.fixture(scope="module")
def world(spark, tmp_path_factory):
    load_jar(spark)  # which has the source that topics are read by
    folder = tmp_path_factory.mktemp("bench")
    with running_broker(folder / "broker") as servers:
        yield World(spark, servers, folder / "world", _RECORDS)


@pytest.fixture
def ladder_world(world, monkeypatch):
    """Let rungs use the world of these tests."""
    monkeypatch.setattr(worlds, "_OPEN", [world])


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


def _ways(found):
    """The ways that a figure is from."""
    names = [part.removesuffix("_rows_per_second") for part in found.parts]
    return [name for name, part in zip(names, found.parts, strict=True) if name != part]


def test_versions_are_all_different():
    versions = [make_version(number) for number in range(200)]

    assert len({canonical_form(version.schema) for version in versions}) == 200
    assert len({version.key for version in versions}) == 200
    assert [len(make_version(number).schema["fields"]) for number in (0, 49, 50, 199)] == [
        BASE_FIELDS, 69, BASE_FIELDS, 69,
    ]  # fmt: skip


def test_sized_frames_have_their_size_and_shrink_as_true_records_do():
    version = make_version(0)

    for size in (200, 500, 2_000):
        plain, some, packed = (make_sized_frames(version, size, share) for share in (0, 10, 100))
        bytes_of = [sum(map(len, frames)) / len(frames) for frames in (plain, packed)]
        assert abs(bytes_of[0] - 18 - size) < 20
        assert sum(frame[1] == 5 for frame in some) == len(some) // 10
        assert {frame[1] for frame in packed} == {5}
        assert bytes_of[1] / bytes_of[0] > 0.5


def test_ways_are_timed_there_and_back():
    called = []

    def way(name, seconds):
        return lambda: called.append(name) or seconds

    turns = race({"ours": way("ours", 2.0), "theirs": way("theirs", 6.0)})

    assert called[:4] == ["ours", "theirs", "theirs", "ours"]
    assert turns == {"ours": [2.0] * 5, "theirs": [6.0] * 5}
    assert ratio(turns, "ours", "theirs") == 3
    assert speeds(turns, 12)["ours_rows_per_second"] == 6


def test_rungs_without_a_broker_have_figures():
    figures = {rung.name: rung.measure(_FORM).figure for rung in ROWS}

    assert min(figures.values()) > 0


@pytest.mark.kafka
@pytest.mark.nightly
@pytest.mark.parametrize("rung", [DECODING[0], *WINDOWS], ids=lambda rung: rung.name)
def test_a_rung_of_spark_has_a_figure_and_its_parts(rung, ladder_world):
    found = rung.measure(_FORM)

    assert found.figure > 0
    assert {f"{way}_{part}" for way in _ways(found) for part in ("slowest", "fastest")} <= {
        *found.parts
    }


@pytest.mark.kafka
@pytest.mark.nightly
def test_records_of_routes_go_to_many_tables(ladder_world, monkeypatch):
    monkeypatch.setattr(routes, "_GOALS", {2: 1})

    found = routes._routes(2, _FORM)

    assert {*_ways(found)} == {"routes_1", "routes_2"}


@pytest.mark.kafka
@pytest.mark.nightly
def test_ways_to_read_one_version_give_the_same_rows(world):
    version = make_version(0)
    topic = world.topic("one", make_frames([version]))

    rows = _by_product(world, [version], world.read(topic))

    assert (rows.count(), len(rows.columns)) == (_RECORDS, BASE_FIELDS + len(COORDINATES))
    assert _same(rows, read_one_schema(world.read(topic), version, [version]))


@pytest.mark.kafka
@pytest.mark.nightly
def test_ways_to_read_many_versions_give_the_same_rows(world):
    versions = [make_version(number) for number in (0, 3, 50)]
    topic = world.topic("many", make_frames(versions))

    rows = _by_product(world, versions, world.read(topic))

    assert (rows.count(), len(rows.columns)) == (_RECORDS, BASE_FIELDS + 3 + len(COORDINATES))
    assert _same(rows, read_by_filters(world.read(topic), versions))
    assert _same(rows, read_cached(world.read(topic), versions).select(rows.columns))


@pytest.mark.kafka
@pytest.mark.nightly
def test_damaged_records_and_new_versions_are_counted(world):
    versions = [make_version(number) for number in range(2)]
    topic = world.topic("poison", make_frames(versions, 0.01))

    counts = Product(world, versions[:1], versions[1:]).take(world.read(topic))

    assert (counts.rows, counts.new_schemas) == (_RECORDS * 99 // 100, 1)
    assert sum(counts.errors.values()) == _RECORDS // 100


@pytest.mark.kafka
@pytest.mark.nightly
def test_a_job_reads_the_same_records_again(world, lake_folder):
    sinks = {"iceberg": sink_settings("errors", "parked", lake_table="bench.readings")}
    lake = lake_folder / "bench/readings"
    jobs = BegunJobs(world, sinks, [lake], _RECORDS)

    first, second = jobs.run("iceberg"), jobs.run("iceberg")

    assert min(first, second) > 0
    assert world.spark.table("lake.bench.readings").count() == 400 + _RECORDS


@pytest.mark.kafka
@pytest.mark.nightly
def test_records_of_each_route_are_rows(world):
    routed_batch(world, 3)()


@pytest.mark.kafka
@pytest.mark.nightly
def test_a_job_brings_changes_into_its_current_table(ladder_world, lake_folder):
    (rung,) = CHANGES

    found = rung.measure(_FORM)

    assert found.figure > 0
    assert 0 < found.parts["product_slowest"] <= found.parts["product_fastest"]


@pytest.mark.kafka
@pytest.mark.nightly
def test_penstock_and_its_peers_bring_all_rows_into_iceberg(ladder_world):
    (rung,) = PEERS

    found = rung.measure(_FORM)

    speeds = [found.parts[f"{name}_rows_per_cpu_second"] for name in ("penstock", "flink")]
    assert min(found.figure, found.parts["iceberg_sink_rows_per_cpu_second"], *speeds) > 0
