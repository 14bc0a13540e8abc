"""A batch is taken again while a service is down, and for no other reason."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import pytest
from py4j.protocol import Py4JJavaError

from penstock.attempts import Attempts
from penstock.errors import (
    BrokerUnavailableError,
    LostRecordsError,
    PenstockError,
    RegistryUnavailableError,
    SinkAccessDeniedError,
    SinkUnavailableError,
)
from penstock.spark.query.outages import is_stop, retry_outages
from penstock.spark.query.stream import StreamQuery
from tests.stubs.clock import FakeTime


def _write_batch(write_batch, is_active=lambda: True):
    time = FakeTime()
    retry_outages(write_batch, Attempts(1, 4, 15, sleep=time.sleep, clock=time.clock), is_active)


@pytest.mark.parametrize(
    "kind", [BrokerUnavailableError, RegistryUnavailableError, SinkUnavailableError]
)
def test_an_outage_that_ends(kind, caplog) -> None:
    write_batch = Mock(side_effect=[kind("down"), kind("down"), None])

    _write_batch(write_batch)

    assert write_batch.call_count == 3
    assert caplog.text.count("the batch is written again: down") == 2


class _JavaError(Py4JJavaError):
    def __init__(self, text: str) -> None:
        self.text = f"An error occurred while calling o1.refresh.\n: {text}\n\tat a.B.c(B.java:1)"

    def __str__(self) -> str:
        return self.text


_GLUE = "software.amazon.awssdk.services.glue.model"


@pytest.mark.parametrize(
    "said",
    [
        f"{_GLUE}.InternalServiceException: why (Service: Glue, Status Code: 500, Request ID: 1)",
        f"{_GLUE}.GlueException: Rate exceeded (Service: Glue, Status Code: 400, Request ID: 1)",
        "com.amazonaws.SlowDown: Slow (Service: Amazon S3; Status Code: 503; Error Code: SlowDown)",
        "software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request: "
        "Connect to glue.eu-central-1.amazonaws.com timed out",
        "org.apache.iceberg.exceptions.CommitStateUnknownException: Read timed out",
        f"{_GLUE}.OperationTimeoutException: Timed out (Service: Glue, Status Code: 400)",
    ],
)
def test_an_outage_that_iceberg_or_hadoop_reports(said, caplog) -> None:
    write_batch = Mock(side_effect=[_JavaError(said), None])

    _write_batch(write_batch)

    assert write_batch.call_count == 2
    assert caplog.messages == [f"the batch is written again: {said}"]


@pytest.mark.parametrize(
    "said",
    [
        "java.lang.IllegalStateException: no column",
        f"{_GLUE}.AccessDeniedException: no (Service: Glue, Status Code: 400, Request ID: 1)",
        "software.amazon.awssdk.core.exception.SdkClientException: Unable to load credentials",
    ],
)
def test_other_errors_of_java_end_the_query(said) -> None:
    write_batch = Mock(side_effect=_JavaError(said))

    with pytest.raises(Py4JJavaError):
        _write_batch(write_batch)

    assert write_batch.call_count == 1


@pytest.mark.parametrize(
    ("said", "stops"),
    [
        ("a.SparkException: Job 3 cancelled because SparkContext was shut down", True),
        ("a.SparkException: Job 3 cancelled part of cancelled job group a-b", True),
        (f"{_GLUE}.AccessDeniedException: no (Service: Glue, Status Code: 400)", False),
    ],
)
def test_a_batch_that_somebody_stopped_has_not_failed(said: str, stops: bool) -> None:
    assert is_stop(_JavaError(said)) is stops


def test_an_outage_that_lasts() -> None:
    errors = [SinkUnavailableError(str(number)) for number in range(9)]
    write_batch = Mock(side_effect=errors)

    with pytest.raises(SinkUnavailableError, match=r"^5$"):  # after 1, 2, 4, 4 and 4 seconds
        _write_batch(write_batch)


def test_the_time_counts_from_the_outage() -> None:
    time, outages = FakeTime(), [400, 10, 400]

    def write_batch() -> None:
        if outages:
            time.now += outages.pop(0)
            raise SinkUnavailableError("down")

    retry_outages(write_batch, Attempts(1, 4, 15, sleep=time.sleep, clock=time.clock), lambda: True)

    assert time.pauses == [1, 2, 1]


def test_a_batch_that_fails_late_each_time_ends_the_query() -> None:
    time, tries = FakeTime(), []

    def write_batch() -> None:
        time.now += 400
        tries.append(time.now)
        raise SinkUnavailableError("down")

    with pytest.raises(SinkUnavailableError):
        retry_outages(
            write_batch, Attempts(1, 4, 15, sleep=time.sleep, clock=time.clock), lambda: True
        )

    assert len(tries) == 4


@pytest.mark.parametrize("error", [SinkAccessDeniedError("no"), LostRecordsError("2"), OSError()])
def test_other_errors_end_the_query(error: PenstockError | OSError) -> None:
    write_batch = Mock(side_effect=error)

    with pytest.raises(type(error)):
        _write_batch(write_batch)

    assert write_batch.call_count == 1


def test_a_query_that_was_stopped_is_not_continued() -> None:
    write_batch = Mock(side_effect=SinkUnavailableError("down"))

    with pytest.raises(SinkUnavailableError):
        _write_batch(write_batch, is_active=lambda: False)

    assert write_batch.call_count == 1


def test_a_batch_is_taken_again_for_five_minutes() -> None:
    time, write_batch = FakeTime(), Mock(side_effect=SinkUnavailableError("down"))
    query = StreamQuery(
        stream=Mock(), checkpoint="s3://c", registries=Mock(), tables=(), errors=Mock()
    )
    attempts = replace(query.attempts, sleep=time.sleep, clock=time.clock)

    with pytest.raises(SinkUnavailableError):
        retry_outages(write_batch, attempts, lambda: True)

    assert 280 < sum(time.pauses) <= 300
