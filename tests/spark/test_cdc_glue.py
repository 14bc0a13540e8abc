"""Change data capture with schemas in Glue, by a connector whose password is rotated meanwhile."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

import boto3
import pytest
import yaml
from botocore.client import BaseClient

from localcloud.testing import wait_until
from localcloud.testing.policies import allow, make_role, trust
from penstock.cli import main
from penstock.extensions.cdc.connector import find_reason
from penstock.spark.query.source import find_partitions
from systems.capture import DATABASE, HEARTBEAT, MASTER, capturing_into_glue
from systems.films import read_current, read_database
from tests.spark.cdc_process import make_settings, start

_SECRET = "penstock-cdc-films-login"
_RIGHTS = Path(__file__).parents[1] / "infra/cdc/glue.policies.yaml"
_CREATE = """
CREATE TABLE film (id int PRIMARY KEY, title text NOT NULL, rate numeric(4,2), changed timestamptz);
INSERT INTO film VALUES (1, 'THE LAST FERRY', 0.99), (2, 'GOLD IN THE ATTIC', 4.99);
CREATE ROLE capture LOGIN PASSWORD 'first';
GRANT rds_replication TO capture;
GRANT SELECT ON film TO capture;
CREATE PUBLICATION penstock FOR TABLE film;
"""
_CUT = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'capture'"
_READ = "SELECT active AND confirmed_flush_lsn >= '{}' FROM pg_replication_slots"


@pytest.fixture
def account(cloud):
    """The account of the registry and of the secret."""
    return boto3.Session("111111111111", "any", region_name="eu-central-1")


@pytest.fixture
def glue(cloud, account):
    return account.client("glue", endpoint_url=cloud.endpoint)


@pytest.fixture
def registry(glue):
    name = f"films-{secrets.token_hex(4)}"
    glue.create_registry(RegistryName=name)
    return name


@dataclass
class Secret:
    """The password of the connector's user; it is not the one of the database by itself."""

    manager: BaseClient

    def keep(self, password):
        text = json.dumps({"password": password})
        self.manager.put_secret_value(SecretId=_SECRET, SecretString=text)

    def delete(self):
        self.manager.delete_secret(SecretId=_SECRET, ForceDeleteWithoutRecovery=True)


@pytest.fixture
def secret(cloud, account):
    manager = account.client("secretsmanager", endpoint_url=cloud.endpoint)
    manager.create_secret(Name=_SECRET, SecretString=json.dumps({"password": "first"}))
    return Secret(manager)


@pytest.fixture
def worker_keys(cloud, account, registry):
    """The credentials of a role that may call AWS as the extension's role may."""
    iam, sts = (account.client(name, endpoint_url=cloud.endpoint) for name in ("iam", "sts"))
    listed = yaml.safe_load(_RIGHTS.read_text())["aws_iam_role_policy.this"]
    statements = [
        allow(each["may"], [arn.replace("/penstock", f"/{registry}") for arn in each["on"]])
        for each in listed
        if each["may"][0].startswith(("glue:", "secretsmanager:"))
    ]
    assert len(statements) == 3
    role = make_role(iam, trust("111111111111"), *statements)
    taken = sts.assume_role(RoleArn=role, RoleSessionName="worker")["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": taken["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": taken["SecretAccessKey"],
        "AWS_SESSION_TOKEN": taken["SessionToken"],
        "AWS_ENDPOINT_URL": cloud.endpoint,
    }


@pytest.fixture
def capture(open_cluster, worker_keys, registry, tmp_path):
    with capturing_into_glue(tmp_path, open_cluster, worker_keys, registry) as running:
        yield running


@pytest.fixture
def settings(open_cluster, capture, database, tmp_path):
    return make_settings(
        servers=open_cluster.bootstrap_servers("PLAINTEXT").split(","),
        registry=capture.registry,
        checkpoint=f"{tmp_path}/checkpoint",
        current_table=f"{database}.{{table}}",
    )


@pytest.fixture
def run_job(settings, glue_spark):
    """Run the job to the end of the topic, and return the rows of its table."""

    def run():
        assert len(find_partitions(settings.kafka, settings.read)) == 1
        start(glue_spark, settings, availableNow=True).awaitTermination()
        table = settings.current_table.format(table="films_public_film")
        return read_current(glue_spark, f"lake.{table}")

    return run


@pytest.fixture
def count(capture, settings, workgroup, monkeypatch, capsys):
    """Run `penstock cdc count`; return its exit code, and the words about the table."""
    database = capture.database
    monkeypatch.setenv("PGPASSWORD", MASTER.password)
    place = f"host={database.address} port={database.port} dbname={DATABASE} user={MASTER.user}"

    def run():
        code = main(
            [
                *("cdc", "count", "public.film", "--database", place, "--topics", "films"),
                *("--current-table", settings.current_table, "--workgroup", workgroup),
                *("--wait", "0.1"),
            ],
            {},
        )
        return code, capsys.readouterr().out.splitlines()[-1].split()

    return run


def _await_log(running):
    position = running.query("SELECT pg_current_wal_lsn()")
    read = _READ.format(position)
    wait_until("the log is read", lambda: running.query(read) == "t", seconds=120)


@pytest.mark.nightly
@pytest.mark.usefixtures("jobs_account")
def test_a_rotated_password_loses_nothing_and_glue_has_keys_and_values(
    capture, secret, run_job, count, glue
):
    capture.query(_CREATE)
    capture.connect(
        "films",
        "public.film",
        database__user="capture",
        database__password="",
        driver__authenticationPluginClassName="penstock.connect.SecretPassword",
        driver__secret=_SECRET,
        driver__region="eu-central-1",
        decimal__handling__mode="string",
        skipped__operations="none",
        retriable__restart__connector__wait__ms="500",
        **HEARTBEAT,
    )
    capture.query("UPDATE film SET rate = 2.99 WHERE id = 1;")
    _await_log(capture)

    secret.keep("second")
    assert int(capture.query(_CUT)) > 0
    capture.query("INSERT INTO film VALUES (3, 'HOLES IN THE ICE'); DELETE FROM film WHERE id = 2;")
    refused = 'password authentication failed for user "capture"'
    wait_until("the old password is not used", lambda: refused in capture.database.log.read_text())
    capture.database.set_password("capture", "second")
    _await_log(capture)

    assert count() == (2, ["public.film", "2", "missing"])
    assert run_job() == read_database(capture, "film")
    assert count() == (0, ["public.film", "2", "2", "equal"])
    capture.query("DELETE FROM film WHERE id = 1")
    assert count() == (2, ["public.film", "1", "2", "differs"])

    registry = capture.registry.removeprefix("glue://").partition("?")[0]
    found = glue.list_schemas(RegistryId={"RegistryName": registry})["Schemas"]
    names = sorted(each["SchemaName"] for each in found)
    heartbeat = ["__debezium-heartbeat.films-key", "__debezium-heartbeat.films-value"]
    assert names == [*heartbeat, "films.public.film-key", "films.public.film-value"]

    begun = len(capture.worker.log.read_text())
    secret.delete()
    assert int(capture.query(_CUT)) > 0
    wait_until(
        "it is the secret",
        lambda: find_reason(capture.worker.log.read_text()[begun:]) == "capture-secret-unreadable",
        seconds=120,
    )
