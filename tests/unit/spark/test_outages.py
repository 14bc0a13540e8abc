"""A batch is taken again while a service is down, and for no other reason."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import Mock

import pytest

from penstock.attempts import Attempts
from penstock.errors import (
    BrokerUnavailableError,
    LostRecordsError,
    PenstockError,
    RegistryUnavailableError,
    SinkAccessDeniedError,
    SinkUnavailableError,
)
from penstock.spark.query.stream import StreamQuery, retry_outages
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
