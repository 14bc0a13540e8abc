"""Change data capture of a real PostgreSQL: tables equal its own, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from localcloud.network.names import HOSTS_VARIABLE
from localcloud.testing import wait_until
from penstock.spark.query.source import find_partitions
from tests.fixtures.brokers import running_brokers
from tests.fixtures.capture import PARAMETERS, capturing
from tests.spark.cdc_process import make_settings, start
from tests.spark.films import (
    MARK,
    NAMES,
    SETTINGS,
    UNWRAP,
    change_at_random,
    create_items,
    create_tables,
    read_current,
    read_database,
    read_items,
    write_marks,
)

_ROOT = Path(__file__).parents[2]
_NAMES = _ROOT / "localcloud/src/localcloud/network/python_path"  # makes Python read the hosts file
_OPEN = {"allow.everyone.if.no.acl.found": "true"}
_DROP_SLOT = (
    "SELECT 'dropped', pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
    " WHERE NOT active"
)
_TABLES = ",".join(f"public.{name}" for name in NAMES)


@pytest.fixture
def capture(hosts_file, tmp_path):
    with running_brokers(tmp_path / "kafka", broker_count=1, properties=_OPEN) as brokers:
        with hosts_file.open("a") as file:
            known = brokers.cluster.names.items()
            file.writelines(f"{address} {name}\n" for name, address in known)
        with capturing(tmp_path, brokers.cluster, {}) as running:
            yield brokers.cluster, running


@pytest.fixture
def settings(capture, tmp_path, lake_folder):
    cluster, running = capture
    name = f"films-{secrets.token_hex(4)}"
    return {
        "servers": cluster.bootstrap_servers("PLAINTEXT").split(","),
        "registry": f"apicurio+{running.registry.url}",
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
    yield Tables(lambda name: read_current(spark, f"lake.{lake(name)}"), items)
    for each in items.values():
        each.delete()


@dataclass
class Tables:
    read_lake: Callable
    items: Mapping

    def check(self, capture):
        """Check that each is equal to the database's."""
        found = {each: read_database(capture, each) for each in NAMES}
        assert {each: self.read_lake(each) for each in NAMES} == found
        assert {each: read_items(self.items[each]) for each in NAMES} == found


def _has_topics(settings):
    made = make_settings(**settings)
    return len(find_partitions(made.kafka, made.read)) == len(NAMES)


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
        yield
    finally:
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

        wait_until("the job has the last rows", has_all, seconds=240)

    def has_rows(self):
        try:
            return self.tables.read_lake("film")
        except AnalysisException:
            return None


@pytest.fixture
def job(spark, settings, tmp_path, hosts_file, tables):
    return Job(spark, settings, tmp_path, hosts_file, tables)


def test_tables_are_equal_after_kills(capture, tables, job, seeded):
    running = capture[1]
    running.query(create_tables())
    running.connect("films", _TABLES, **SETTINGS)
    with job.run_process():
        running.query(change_at_random(seeded, 60))
        wait_until("the job writes", job.has_rows, seconds=120)
    running.worker.kill()
    running.query(f"{change_at_random(seeded, 40)} {write_marks('first')}")
    running.worker.start()
    job.catch_up("first")
    tables.check(running)


@pytest.mark.nightly
def test_a_connector_without_offsets_reads_all_rows_again(capture, tables, job, seeded):
    """It has lost its slot too, and flattens records from now on."""
    running = capture[1]
    running.query(create_tables())
    running.connect("films", _TABLES, **SETTINGS)
    running.query(f"{change_at_random(seeded, 20)} {write_marks('first')}")
    wait_until("there are topics", lambda: _has_topics(job.settings))
    job.catch_up("first")
    running.worker.act("films", "stop")
    running.query(f"{change_at_random(seeded, 20)} DELETE FROM film WHERE id < 10;")
    wait_until("the slot is free", lambda: running.query(_DROP_SLOT))
    running.connect("again", _TABLES, **SETTINGS, **UNWRAP)
    running.query(f"{change_at_random(seeded, 20, truncates=False)} {write_marks('second')}")
    job.catch_up("second")
    tables.check(running)


@pytest.mark.nightly
def test_tables_are_equal_after_many_kills(capture, tables, job, seeded):
    cluster, running = capture
    running.query(create_tables())
    running.connect("films", _TABLES, **SETTINGS)

    def restart_broker():
        cluster.kill(1)
        cluster.restart(1)

    def restart_worker():
        running.worker.kill()
        running.worker.start()

    def restart_database():
        running.database.kill()
        running.database.start(PARAMETERS)
        running.worker.act("films", "restart")

    for number in range(25):
        with job.run_process():
            for _ in range(4):
                running.query(change_at_random(seeded, 50))
                seeded.choice([restart_broker, restart_worker, restart_database, int])()
        running.query(write_marks(str(number)))
    job.catch_up("24")
    tables.check(running)
