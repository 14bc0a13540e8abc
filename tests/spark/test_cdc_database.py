"""Change data capture of a real PostgreSQL: tables equal its own, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import boto3
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from localcloud.brokers import BrokerCluster
from localcloud.network.names import HOSTS_VARIABLE
from localcloud.testing import ask_for, is_running, wait_until
from penstock.spark.query.source import find_partitions
from systems.capture import PARAMETERS, Capture, capturing
from systems.films import (
    MARK,
    NAMES,
    SETTINGS,
    UNWRAP,
    change_at_random,
    check_versions,
    create_items,
    create_tables,
    read_current,
    read_database,
    read_items,
    write_marks,
)
from systems.trials import Trials
from tests.spark.cdc_process import make_settings, start
from tests.spark.kinds import create_kinds, insert_kinds, read_kinds, read_table, select_kinds
from tests.spark.waits import CREATE_WAITS, insert_while_deleting

_ROOT = Path(__file__).parents[2]
_NAMES = _ROOT / "localcloud/src/localcloud/network/python_path"  # makes Python read the hosts file
_DROP_SLOT = (
    "SELECT 'dropped', pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
    " WHERE NOT active"
)
_TABLES = ",".join(f"public.{name}" for name in NAMES)


@pytest.fixture
def capture(open_cluster, tmp_path):
    with capturing(tmp_path, open_cluster, {}) as running:
        yield open_cluster, running


@pytest.fixture
def settings(capture, tmp_path, lake_folder):
    cluster, running = capture
    name = f"films-{secrets.token_hex(4)}"
    return {
        "servers": cluster.bootstrap_servers("PLAINTEXT").split(","),
        "registry": running.registry,
        "checkpoint": f"{tmp_path}/checkpoint",
        "current_table": f"{name.replace('-', '_')}.{{table}}",
        "current_dynamodb_table": f"{name}-{{table}}",
    }


@pytest.fixture
def tables(spark, cloud, jobs_account, settings):
    """Read a table of the job: from the lake, or from DynamoDB."""
    account = boto3.Session("111111111111", "any", region_name="eu-central-1")
    database = account.resource("dynamodb", endpoint_url=cloud.endpoint)
    lake, dynamodb = (
        settings[each].replace("{table}", "films_public_{}").format
        for each in ("current_table", "current_dynamodb_table")
    )
    items = create_items(database, dynamodb)
    yield Tables(spark, lake, items)
    for each in items.values():
        each.delete()


@dataclass
class Tables:
    spark: SparkSession
    lake: Callable
    items: Mapping

    def read_lake(self, name):
        return read_current(self.spark, f"lake.{self.lake(name)}")

    def check(self, capture, trials=None):
        """Check that each is equal to the database's, and count its rows for the trials."""
        trials = trials or Trials("")
        for each in NAMES:
            found = read_database(capture, each)
            trials.check(self.read_lake(each).items(), found)
            trials.check(read_items(self.items[each]).items(), found)

    def check_history(self, capture, records):
        """Check the history of each, by the records as they are, and return all versions."""
        versions = {}
        for each in NAMES:
            name = f"lake.{self.lake(f'{each}_history')}"
            assert read_current(self.spark, name, "_valid_to IS NULL") == read_database(
                capture, each
            )
            versions[each] = self.spark.table(name).collect()
            changes = self.spark.read.parquet(f"{records}/films.public.{each}").selectExpr(
                "op", "COALESCE(after.id, before.id)", "source.lsn"
            )
            check_versions(versions[each], {tuple(row) for row in changes.collect()})
        return {each: sorted(map(str, found)) for each, found in versions.items()}


def _has_mark(spark, table):
    try:
        return spark.table(table).filter(f"id = {MARK}").count() == 1
    except AnalysisException:
        return False


def _has_topics(settings, tables=NAMES):
    made = make_settings(**settings)
    return len(find_partitions(made.kafka, made.read)) == len(tables)


@contextmanager
def _run_process(spark, settings, folder, hosts_file):
    """Run the job as a process of its own, by the settings of this session; kill it at the end."""
    wait_until("there are topics", lambda: _has_topics(settings))
    file = folder / "job.json"
    conf = dict(spark.sparkContext.getConf().getAll()) | {
        name: text
        for name, text in spark.conf.getAll.items()
        if name.startswith("spark.sql.catalog.lake")
    }
    chosen = {
        name: text
        for name, text in conf.items()
        if not name.startswith(("spark.app.", "spark.driver.port", "spark.executor.id"))
    }
    chosen["spark.local.dir"] = f"{folder}/local"
    file.write_text(json.dumps({"spark": chosen, "settings": settings}))
    with (folder / "output").open("wb") as output:
        job = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.cdc_process", str(file)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ
            | {
                HOSTS_VARIABLE: str(hosts_file),
                "PYTHONPATH": os.pathsep.join(map(str, (_NAMES, _ROOT / "src", _ROOT))),
            },
            start_new_session=True,
        )
    try:
        yield job
    finally:
        with suppress(ProcessLookupError):  # it has ended, and the test says so
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()


@dataclass
class Job:
    """The job, in this process or in one of its own."""

    spark: SparkSession
    settings: Mapping
    folder: Path
    hosts_file: Path
    tables: Tables

    def run_process(self):
        return _run_process(self.spark, self.settings, self.folder, self.hosts_file)

    def catch_up(self, title):
        """Run until each table has the last row."""

        def has_all():
            start(self.spark, make_settings(**self.settings), availableNow=True).awaitTermination()
            marks = (self.tables.read_lake(each).get(MARK) for each in NAMES)
            return all(mark is not None and mark["title"] == title for mark in marks)

        wait_until("the job has the last rows", has_all, seconds=900)

    def find_last(self, kind):
        """Return the number of the last batch that is planned (offsets) or done (commits)."""
        folder = Path(self.settings["checkpoint"]) / kind
        return max((int(each.name) for each in folder.glob("[0-9]*")), default=-1)

    def await_batch(self, before, process):
        """Wait until the job's process has done a later batch."""

        def has_batch_or_ended():
            return self.find_last("commits") > before or process.poll() is not None

        found = ask_for(has_batch_or_ended, seconds=900)
        assert found and process.poll() is None, (self.folder / "output").read_text()[-8_000:]

    def repeat(self):
        """Write the last batch again: the driver ended before it noted that it was done."""
        last = self.find_last("commits")
        commits = Path(self.settings["checkpoint"]) / "commits"
        for name in (f"{last}", f".{last}.crc"):
            (commits / name).unlink()
        start(self.spark, make_settings(**self.settings), availableNow=True).awaitTermination()
        assert self.find_last("commits") == last


@dataclass
class Faults:
    """Kills what the job reads from, and starts it again."""

    cluster: BrokerCluster
    running: Capture
    fired: Counter = field(default_factory=Counter)

    def change(self, sql, kill, after):
        """Run SQL, and kill so many seconds later."""
        with ThreadPoolExecutor(1) as pool:
            changed = pool.submit(self.running.query, sql)
            time.sleep(after)
            if kill:
                kill()
            if changed.exception():  # the database was killed
                self.running.query(sql)

    def broker(self):
        with self._killing("broker", lambda: self.cluster.pids[1]):
            self.cluster.kill(1)
            self.cluster.restart(1)

    def worker(self):
        worker = self.running.worker
        with self._killing("worker", lambda: worker.pid):
            worker.kill()
            worker.start()

    def database(self):
        database = self.running.database
        with self._killing("database", lambda: database.pid):
            database.kill()
            database.start(PARAMETERS)
        self.running.worker.act("films", "restart")

    @contextmanager
    def _killing(self, what, find_pid):
        before = find_pid()
        assert is_running(before)
        yield
        assert not is_running(before)
        assert is_running(find_pid())
        self.fired[what] += 1


@pytest.fixture
def job(spark, settings, tmp_path, hosts_file, tables):
    return Job(spark, settings, tmp_path, hosts_file, tables)


def test_each_type_and_order_of_a_database(capture, spark, lake_folder, settings):
    """Two tables of one name, one with all old values; rows of a snapshot, and of the log."""
    running = capture[1]
    settings = {
        **{name: settings[name] for name in ("servers", "registry", "checkpoint", "current_table")},
        "topics": r"films\.(public|other)\..*",
    }
    running.database.query("CREATE EXTENSION hstore", "films")
    tables = ["public.kinds", "other.kinds", "public.waits"]
    running.query(
        f"{create_kinds()} {CREATE_WAITS}"
        f" CREATE PUBLICATION penstock FOR TABLE {', '.join(tables)};"
    )
    running.connect("films", ",".join(tables), **SETTINGS)
    for name in ("kinds", "other.kinds"):
        running.query(f"UPDATE {name} SET note = 'changed' WHERE id <> 2")
    running.query(insert_kinds(11, "'new'"))
    running.query("UPDATE kinds SET note = 'newer' WHERE id > 10")
    insert_while_deleting(running)
    for each in tables:
        running.query(f"INSERT INTO {each} (id) VALUES ({MARK})")
    read = settings["current_table"].replace("{table}", "films_{}").format

    def has_all():
        start(spark, make_settings(**settings), availableNow=True).awaitTermination()
        return all(_has_mark(spark, f"lake.{read(each.replace('.', '_'))}") for each in tables)

    wait_until("there are topics", lambda: _has_topics(settings, tables))
    wait_until("the job has the last rows", has_all, seconds=900)
    for schema in ("public", "other"):
        rows = spark.table(f"lake.{read(f'{schema}_kinds')}").orderBy("id").collect()
        found, expected = read_table(rows), read_kinds(running.query(select_kinds(schema)))
        for one, other in zip(found, expected, strict=True):
            assert one == other
    waits = spark.table(f"lake.{read('public_waits')}").orderBy("id").collect()
    assert [f"{row.id}|{row.email or ''}" for row in waits] == running.query(
        "SELECT * FROM waits ORDER BY id"
    ).splitlines()


@pytest.mark.nightly
def test_a_connector_without_offsets_reads_all_rows_again(capture, tables, job, seeded):
    """It has lost its slot too, and flattens records from now on. Each table has rows then."""
    running = capture[1]
    running.query(create_tables())
    running.connect("films", _TABLES, **SETTINGS)
    running.query(f"{change_at_random(seeded, 20)} {write_marks('first')}")
    wait_until("there are topics", lambda: _has_topics(job.settings))
    job.catch_up("first")
    running.worker.act("films", "stop")
    changes = f"{change_at_random(seeded, 20)} DELETE FROM film WHERE id < 10;"
    changes += "INSERT INTO film (id) VALUES (50);"  # docs/cdc.md#a-snapshot-of-an-empty-table
    running.query(f"{changes} {write_marks('between')}")
    wait_until("the slot is free", lambda: running.query(_DROP_SLOT))
    running.connect("again", _TABLES, **SETTINGS, **UNWRAP)
    running.query(f"{change_at_random(seeded, 20, truncates=False)} {write_marks('second')}")
    job.catch_up("second")
    tables.check(running)


@pytest.mark.nightly
def test_tables_are_equal_after_many_kills(  # noqa: PLR0913, PLR0917 - all are fixtures
    capture, tables, job, seeded, tmp_path, fault
):
    """5,000 transactions while the job and all that it reads from are killed at random."""
    faults, kills = Faults(*capture), fault("capture")
    running = faults.running
    job.settings |= {
        "most": 4_000,
        "history_table": job.settings["current_table"].replace("{table}", "{table}_history"),
        "raw_path": f"{tmp_path}/raw",
    }
    running.query(create_tables())
    running.connect("films", _TABLES, **SETTINGS)
    interrupted = 0
    for number in range(5):
        before = job.find_last("commits")
        with job.run_process() as process:
            for kill in seeded.sample([faults.broker, faults.worker, faults.database, None], 4):
                faults.change(change_at_random(seeded, 250), kill, seeded.random())
            job.await_batch(before, process)
            interrupted += job.find_last("offsets") > job.find_last("commits")
        running.query(write_marks(str(number)))
    running.worker.await_tasks("films")
    job.catch_up("4")
    assert faults.fired == {"broker": 5, "worker": 5, "database": 5}
    assert interrupted, "no job was killed within a batch"
    kills.count(15 + interrupted, fired=sum(faults.fired.values()) + interrupted)

    tables.check(running, kills)
    found = tables.check_history(running, tmp_path / "raw/topics")
    job.repeat()
    tables.check(running)
    assert tables.check_history(running, tmp_path / "raw/topics") == found
