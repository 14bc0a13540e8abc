"""One Spark session for all tests in here, with the jars and settings that jobs have."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from contextlib import contextmanager
from pathlib import Path

import boto3
import pytest
from pyspark.sql import SparkSession

from localcloud.jobs import archive_options
from penstock.aws import Athena
from penstock.sinks import DynamoDbClient
from penstock.spark.lake.iceberg import catalog_settings
from penstock.spark.session import keep_lookups, session_settings
from penstock.spark.state import lease
from systems.clusters import OPEN, running_brokers
from systems.error_tables import make_error_table
from systems.films import create_item_table
from systems.java import SHORT_LIVED_DRIVER
from systems.sessions import make_session
from tests.fixtures.brokers import keep_login, keep_secret
from tests.spark.consuming import PASSWORD, USER, Job
from tests.spark.lakes import LakeReader

__all__ = ["keep_login", "keep_secret"]

_ACCOUNT, _REGION = "111111111111", "eu-central-1"
_ROOT = Path(__file__).parents[2]
_KEYS = {"aws.accessKeyId": "111111111111", "aws.secretAccessKey": "any"}
# Compiling what runs once is most of the work. Tests of what is compiled ask for `compiled`.
_INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
# PySpark leaves the sockets by which it collects rows to the garbage collector.
_SOCKETS = pytest.mark.filterwarnings("ignore:unclosed <socket.socket:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.spark)
            item.add_marker(_SOCKETS)


@pytest.fixture(scope="session")
def hosts_file(tmp_path_factory):
    """The names that Spark's JVM knows, read at each look-up; brokers are added to it."""
    path = tmp_path_factory.mktemp("hosts") / "hosts"
    path.write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
    return path


@pytest.fixture(scope="session")
def spark(tmp_path_factory, hosts_file):
    folders = ("jars/spark/lib", "localcloud/.cache/jars/s3")
    found = (path for folder in folders for path in _ROOT.glob(f"{folder}/*.jar"))
    jars = sorted({path.name: str(path) for path in found}.values())
    assert jars, "no jars in jars/spark/lib, run `make install`"
    folder = tmp_path_factory.mktemp("spark")
    names = f"-Djdk.net.hosts.file={hosts_file}"
    # Little data, much that runs once: the second compiler took half of all the time.
    quick = f"{SHORT_LIVED_DRIVER} {archive_options()}"
    settings = {
        **session_settings(),
        **_INTERPRETED,
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.extraJavaOptions": f"{names} {quick}",
        "spark.master": "local[2]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.jars": ",".join(jars),
        "spark.local.dir": str(folder / "local"),
        "spark.python.daemon.module": "tests.spark.daemon",
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
        keep_lookups(session)
        yield session
        session.stop()


@pytest.fixture(scope="module")
def compiled(spark):
    """Let Spark generate and compile code in this module, as it does in jobs."""
    for name in _INTERPRETED:
        spark.conf.unset(name)
    yield
    for name, text in _INTERPRETED.items():
        spark.conf.set(name, text)


@pytest.fixture
def only_full_batches(spark):
    """Let a stream plan no batch without records, as it does to forget state: half of its work."""
    name = "spark.sql.streaming.noDataMicroBatches.enabled"
    spark.conf.set(name, "false")
    yield
    spark.conf.unset(name)


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
def glue_spark(spark, cloud):
    """A session whose lake is in the Glue catalog; only endpoints differ from a job's."""
    system = spark.sparkContext._jvm.java.lang.System
    for name, text in _KEYS.items():
        system.setProperty(name, text)
    session = spark.newSession()
    settings = {
        **catalog_settings(),
        "spark.sql.catalog.lake.client.region": "eu-central-1",
        "spark.sql.catalog.lake.glue.endpoint": cloud.endpoint,
        "spark.sql.catalog.lake.s3.endpoint": cloud.endpoint,
        "spark.sql.catalog.lake.s3.path-style-access": "true",
    }
    for name, text in settings.items():
        session.conf.set(name, text)
    yield session
    for name in _KEYS:
        system.clearProperty(name)


@pytest.fixture
def database(client):
    """A database as infra/modules/lake makes it, with its bucket."""
    name = f"db_{secrets.token_hex(4)}"
    bucket = name.replace("_", "-")
    s3, glue = client("s3"), client("glue")
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    glue.create_database(DatabaseInput={"Name": name, "LocationUri": f"s3://{bucket}/tables/"})
    yield name
    glue.delete_database(Name=name)  # with its tables
    for found in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        s3.delete_object(Bucket=bucket, Key=found["Key"])
    s3.delete_bucket(Bucket=bucket)


@pytest.fixture
def workgroup(client, database):
    """A work group of Athena whose results are in the lake's bucket."""
    bucket, group = database.replace("_", "-"), f"{database}-asks"
    output = {"OutputLocation": f"s3://{bucket}/results/"}
    configuration = {"ResultConfiguration": output, "BytesScannedCutoffPerQuery": 10_485_760}
    client("athena").create_work_group(Name=group, Configuration=configuration)
    yield group
    client("athena").delete_work_group(WorkGroup=group, RecursiveDeleteOption=True)


@pytest.fixture
def athena(cloud, workgroup, monkeypatch):
    """Athena, as a job asks it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    return Athena(workgroup, 60, make_session(_ACCOUNT, region=_REGION))


@pytest.fixture
def executors_account(spark, cloud, monkeypatch):
    """Let Spark's executors work in an account of localcloud; return their environment."""
    environ = {
        "AWS_ACCESS_KEY_ID": _ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": "any",
        "AWS_REGION": _REGION,
        "AWS_DEFAULT_REGION": _REGION,
        "AWS_ENDPOINT_URL": cloud.endpoint,
    }
    for name, text in environ.items():
        monkeypatch.setitem(spark.sparkContext.environment, name, text)
    return environ


@pytest.fixture
def jobs_account(executors_account, monkeypatch):
    """Let the driver work in the account of its executors."""
    for name, text in executors_account.items():
        monkeypatch.setenv(name, text)


@pytest.fixture
def items(cloud, jobs_account):
    """A table of DynamoDB for the rows of a captured table."""
    account = boto3.Session("111111111111", "any", region_name="eu-central-1")
    database = account.resource("dynamodb", endpoint_url=cloud.endpoint)
    table = create_item_table(database, f"film-{secrets.token_hex(4)}")
    yield table
    table.delete()


@pytest.fixture
def reader(spark, lake_folder):
    """A table of the lake that is not there yet."""
    return LakeReader(spark, lake_folder, f"db.t_{secrets.token_hex(4)}")


@contextmanager
def _running_broker(folder, hosts_file, **changes):
    """Run one broker, whose name Spark's JVM knows too."""
    with running_brokers(folder, broker_count=1, **changes) as running:
        with hosts_file.open("a") as file:
            known = running.cluster.names.items()
            file.writelines(f"{address} {name}\n" for name, address in known)
        yield running


@pytest.fixture(scope="package")
def kafka(hosts_file, tmp_path_factory):
    """One broker with the job's user."""
    with _running_broker(tmp_path_factory.mktemp("kafka"), hosts_file) as running:
        running.cluster.set_user(USER, PASSWORD)
        yield running


@pytest.fixture
def open_cluster(hosts_file, tmp_path):
    """One broker for a test alone, which may be killed and needs no rules."""
    with _running_broker(tmp_path / "kafka", hosts_file, properties=OPEN) as running:
        yield running.cluster


@pytest.fixture
def lease_table(cloud):
    """A table of errors for leases alone.

    One for each test: where moto stands in for AWS (`keep_secret`), it forgets tables of before.
    """
    session = boto3.Session(_ACCOUNT, "any", region_name=_REGION)
    database = session.resource("dynamodb", endpoint_url=cloud.endpoint)
    return make_error_table(database, f"leases-{secrets.token_hex(4)}")


@pytest.fixture
def leases(cloud, lease_table, monkeypatch):
    """Its name, for jobs that find it in localcloud."""
    session = make_session(_ACCOUNT, region=_REGION)
    monkeypatch.setattr(lease, "DynamoDbClient", lambda: DynamoDbClient(session))
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", cloud.endpoint)
    return lease_table.name


@pytest.fixture
def account(keep_secret, leases):
    """What the job finds in its account: the secret with its login, and a table of errors."""
    return keep_secret(USER, PASSWORD), leases


@pytest.fixture
def job(spark, reader, kafka, account, tmp_path):
    """The job that consumes, before its first start."""
    return Job(spark, reader, kafka, account, tmp_path)
