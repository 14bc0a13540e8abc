"""Spark logs in by client certificate, and shows its private key nowhere."""

from __future__ import annotations

import pytest

from jobs.sales.results import write_records
from penstock.kafka import Security
from penstock.spark import session
from penstock.spark.query.source import read_topics
from penstock.spark.settings.consume import ReadSettings
from tests.fixtures.certificates import issue_login

pytestmark = [pytest.mark.spark, pytest.mark.kafka]


@pytest.fixture
def as_in_jobs(spark):
    """Have the settings that jobs have, in this test alone."""
    before = spark.conf.getAll
    session.build_session("certificates")
    yield
    changed = {name for name, text in spark.conf.getAll.items() if before.get(name) != text}
    for name in changed:
        spark.conf.unset(name)
        if name in before:
            spark.conf.set(name, before[name])


@pytest.mark.usefixtures("as_in_jobs")
def test_spark_writes_and_reads_by_client_certificate(spark, kafka, keep_login):
    topic = kafka.create_topic(partitions=1)
    kafka.allow("CN=spark,OU=data,O=Acme", topic, "READ", "WRITE")
    login = issue_login(kafka.authority, "spark")
    settings = kafka.settings(Security.TLS, secret_arn=keep_login("spark", login))

    write_records(spark.createDataFrame([(b"1",)], "value binary"), settings, topic)

    records = read_topics(spark, settings, ReadSettings(topics=(topic,)))
    assert [bytes(row.value) for row in records.select("value").collect()] == [b"1"]
    shown = _list_plans(spark)
    assert topic in shown
    assert login["privateKey"].splitlines()[1] not in shown


def _list_plans(spark):
    """Return the plans that Spark's UI shows of all executions."""
    store = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    return "".join(
        f"{each.description()} {each.physicalPlanDescription()}"
        for each in (executions.apply(number) for number in range(executions.size()))
    )
