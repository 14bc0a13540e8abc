"""Settings of the sales jobs come from flags, then SSM parameters, then the environment."""

from __future__ import annotations

from datetime import datetime
from unittest.mock import patch

import pytest
from moto import mock_aws

from jobs.sales.enrichment import EnrichSettings, ResultsAvroSettings
from jobs.sales.settings import (
    FileSettings,
    ProduceSettings,
    StreamSettings,
    TotalsSettings,
    add_parameters,
    read_parameters,
)
from penstock.errors import SettingsError
from systems.sessions import make_session

_PUBLISHED = {
    "kafka_servers": "b-1.example:9098",
    "kafka_demo_bucket": "penstock-sales",
    "schema_resistry_url_int": "http://registry:8080",
}


def _read(kind, *words, environ=None, parameters=_PUBLISHED):
    flags = add_parameters(kind, words, environ or {}, lambda _: parameters)
    return kind.from_args(flags, environ or {})


def test_the_published_names_of_parameters_are_flags():
    flags = ("--parameters", "/kafka_spark_demo", "--topic", "sales", "--region", "eu-central-1")
    settings = _read(ProduceSettings, *flags)

    assert settings.kafka.bootstrap_servers == ("b-1.example:9098",)
    assert settings.files.locate("sales.csv") == "s3://penstock-sales/spark/sales.csv"


def test_other_parameters_have_the_names_of_flags():
    parameters = _PUBLISHED | {"topics": "sales", "output_topic": "sales.totals", "by": "region"}
    environ = {"SALES_PARAMETERS": "/sales", "SALES_BY": "country", "AWS_REGION": "eu-central-1"}
    words = ("--checkpoint", "s3://penstock-sales/checkpoint")

    settings = _read(StreamSettings, *words, environ=environ, parameters=parameters)

    assert (settings.summary.read.topics, settings.output_topic) == (("sales",), "sales.totals")
    assert settings.summary.by == "region"


def test_a_flag_overrides_a_parameter():
    settings = _read(FileSettings, "--parameters", "/sales", "--bucket", "file:///tmp/sales/")

    assert settings.locate("a.csv", "spark_output") == "file:///tmp/sales/spark_output/a.csv"


def test_without_a_prefix_nothing_is_asked():
    assert add_parameters(FileSettings, ["--bucket", "b"], {}) == ["--bucket", "b"]


def test_a_file_without_a_bucket_names_the_flag():
    with pytest.raises(SettingsError, match=r"SALES_BUCKET \(--bucket\) is missing, expected"):
        FileSettings().locate("sales.csv")


_STREAM = (
    *("--topics", "sales", "--bootstrap-servers", "b-1.example:9098", "--region", "eu-central-1"),
    *("--checkpoint", "s3://b/c"),
)
_OFFSETS = '{"sales": {"0": 1}}'
_TIME = "2026-01-05T12:00:00+00:00"


@pytest.mark.parametrize(
    ("kind", "starting"),
    [
        *((TotalsSettings, starting) for starting in ("latest", _OFFSETS, _TIME)),
        *((StreamSettings, starting) for starting in ("latest", _OFFSETS)),
    ],
)
def test_a_stream_counts_all_sales_of_what_it_writes(kind, starting):
    with pytest.raises(SettingsError, match=r"^--starting is not earliest( or a time)?, expected"):
        kind.from_args([*_STREAM, "--starting", starting], {})

    kind.from_args(_STREAM, {})


def test_windows_may_begin_at_a_time():
    settings = StreamSettings.from_args([*_STREAM, "--starting", _TIME], {})

    assert settings.begins() == datetime.fromisoformat(_TIME)


_AVRO = (
    *("--topics", "a,b", "--bootstrap-servers", "b-1.example:9098", "--region", "eu-central-1"),
    *("--registry-url", "http://registry:8080"),
)


def test_the_stream_in_avro_reads_one_topic_and_writes_one():
    with pytest.raises(SettingsError) as caught:
        EnrichSettings.from_args([*_AVRO, "--checkpoint", "s3://b/c"], {})

    assert caught.value.problems == (
        "found topics a, b, expected one in --topics: its artifacts have its name",
        "SALES_OUTPUT_TOPIC (--output-topic) is missing, expected a topic for the totals",
    )


def test_results_in_avro_are_of_one_topic():
    with pytest.raises(SettingsError, match="found topics sales-, expected one in --topics"):
        ResultsAvroSettings.from_args([*_AVRO[2:], "--topic-pattern", "sales-"], {})


@pytest.mark.parametrize("rate", ["0", "-1", "nan", "fast", "20000"])
def test_a_rate_is_a_number_above_zero(rate):
    with pytest.raises(SettingsError, match=r"--rate is .*, expected for produce: messages per"):
        _read(ProduceSettings, "--rate", rate)


@pytest.fixture
def ssm():
    session = make_session("AKIAMADEUP", region="eu-central-1")
    with mock_aws(), patch("jobs.sales.settings.load_session", lambda: session):
        yield session.create_client("ssm")


def test_parameters_are_read_below_a_prefix(ssm):
    for at in range(12):  # more than a page
        ssm.put_parameter(Name=f"/sales/p{at}", Value=str(at), Type="SecureString")
    ssm.put_parameter(Name="/salesmen/p", Value="x", Type="String")

    assert read_parameters("sales/") == {f"p{at}": str(at) for at in range(12)}
    with pytest.raises(SettingsError, match="--parameters is '/none', expected a prefix with SSM"):
        read_parameters("/none")


def test_a_prefix_that_cannot_be_read_says_why(ssm):
    with (
        patch("jobs.sales.settings._list_parameters", side_effect=_denied(ssm)),
        pytest.raises(SettingsError, match="below /sales cannot be read: An error"),
    ):
        read_parameters("/sales")


def _denied(client):
    answer = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
    return client.exceptions.ClientError(answer, "GetParametersByPath")
