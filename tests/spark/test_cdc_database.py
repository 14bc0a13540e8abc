"""Change data capture of a real PostgreSQL: tables equal its own, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from localcloud.network.names import HOSTS_VARIABLE
from localcloud.testing import wait_until
from penstock.spark.query.source import find_partitions
from tests.fixtures.brokers import running_brokers
from tests.fixtures.capture import capturing
from tests.spark.cdc_process import make_settings, start
from tests.spark.films import (
    MARK,
    NAMES,
    SETTINGS,
    change_at_random,
    create_tables,
    read_current,
    read_database,
    write_marks,
)

_ROOT = Path(__file__).parents[2]
_NAMES = _ROOT / "localcloud/src/localcloud/network/python_path"  # makes Python read the hosts file
_OPEN = {"allow.everyone.if.no.acl.found": "true"}
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
    return {
        "servers": cluster.bootstrap_servers("PLAINTEXT").split(","),
        "registry": f"apicurio+{running.registry.url}",
        "checkpoint": f"{tmp_path}/checkpoint",
        "current_table": f"films_{secrets.token_hex(4)}.{{table}}",
    }


def _has_topics(settings):
    made = make_settings(**settings)
    return len(find_partitions(made.kafka, made.read)) == len(NAMES)


@pytest.fixture
def job_process(spark, settings, tmp_path, hosts_file):
    return lambda: _run_process(spark, settings, tmp_path, hosts_file)


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


def _end_of(capture, transactions):
    capture.query(transactions)
    capture.query(write_marks())


def _catch_up(spark, settings, name):
    """Run the job until it has the last row of each table."""

    def has_all():
        start(spark, make_settings(**settings), availableNow=True).awaitTermination()
        return all(MARK in read_current(spark, name(each)) for each in NAMES)

    wait_until("the job has the last rows", has_all, seconds=240)


def test_tables_are_equal_after_kills(spark, capture, settings, seeded, job_process):
    running = capture[1]
    running.query(create_tables())
    running.connect("films", _TABLES, **SETTINGS)
    name = f"lake.{settings['current_table']}".replace("{table}", "films_public_{}").format
    with job_process():
        running.query(change_at_random(seeded, 60))
        wait_until("the job writes", lambda: spark.catalog.tableExists(name("film")), seconds=120)
    running.worker.kill()
    _end_of(running, change_at_random(seeded, 40))
    running.worker.start()
    _catch_up(spark, settings, name)
    assert {each: read_current(spark, name(each)) for each in NAMES} == {
        each: read_database(running, each) for each in NAMES
    }
