"""One Spark session for all tests in here, with the jars and settings that jobs have."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.spark.session import session_settings
from tests.fixtures.brokers import keep_secret, running_brokers
from tests.spark.consuming import PASSWORD, USER, Job
from tests.spark.lakes import LakeReader

__all__ = ["keep_secret"]

_ROOT = Path(__file__).parents[2]
# PySpark leaves the sockets by which it collects rows to the garbage collector.
_SOCKETS = pytest.mark.filterwarnings("ignore:unclosed <socket.socket:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.spark)
            item.add_marker(_SOCKETS)
            # The first tasks of a JVM are slow, and slower where others work beside it.
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session")
def hosts_file(tmp_path_factory):
    """The names that Spark's JVM knows, read at each look-up; brokers are added to it."""
    path = tmp_path_factory.mktemp("hosts") / "hosts"
    path.write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
    return path


@pytest.fixture(scope="session")
def spark(tmp_path_factory, hosts_file):
    jars = [str(path) for path in sorted(_ROOT.glob("jars/spark/lib/*.jar"))]
    assert jars, "no jars in jars/spark/lib, run `make install`"
    folder = tmp_path_factory.mktemp("spark")
    ours = session_settings()
    names = f"-Djdk.net.hosts.file={hosts_file}"
    # Little data, much that runs once: the second compiler took half of all the time.
    quick = "-XX:TieredStopAtLevel=1"
    settings = {
        **ours,
        "spark.driver.extraJavaOptions": f"{ours['spark.driver.extraJavaOptions']} {names} {quick}",
        "spark.master": "local[2]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.jars": ",".join(jars),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(_ROOT / "src"), str(_ROOT)]))
        session = SparkSession.builder.config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="session")
def lake_folder(spark, tmp_path_factory):
    """Where the catalog `lake` keeps its tables in these tests."""
    folder = tmp_path_factory.mktemp("lake")
    for name, text in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "hadoop",
        ".warehouse": str(folder),
        ".cache-enabled": "false",
    }.items():
        spark.conf.set(f"spark.sql.catalog.lake{name}", text)
    return folder


@pytest.fixture
def reader(spark, lake_folder):
    """A table of the lake that is not there yet."""
    return LakeReader(spark, lake_folder, f"db.t_{secrets.token_hex(4)}")


@pytest.fixture(scope="package")
def kafka(hosts_file, tmp_path_factory):
    """One broker, whose name Spark's JVM knows too."""
    with running_brokers(tmp_path_factory.mktemp("kafka"), broker_count=1) as running:
        with hosts_file.open("a") as file:
            file.writelines(
                f"{address} {name}\n" for name, address in running.cluster.names.items()
            )
        running.cluster.set_user(USER, PASSWORD)
        yield running


@pytest.fixture
def job(spark, reader, kafka, keep_secret, tmp_path):
    """The job that consumes, before its first start."""
    return Job(spark, reader, kafka, keep_secret(USER, PASSWORD), tmp_path)
