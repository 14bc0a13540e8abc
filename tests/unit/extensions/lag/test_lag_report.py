"""Lags as text and as metrics, and the time to catch up."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from penstock.errors import BrokerUnavailableError
from penstock.extensions.lag.exporter import make_exporter
from penstock.extensions.lag.report import (
    describe_time,
    estimate_catch_up,
    format_metrics,
)
from penstock.kafka import GroupLag


def _lag(records: int, partition: int = 0, topic: str = "sensor") -> GroupLag:
    return GroupLag("analytics-consumer", topic, partition, 100, 0, 100 + records)


@pytest.mark.parametrize(
    ("before", "now", "seconds", "words"),
    [
        (500, 400, 20.0, "20 s"),  # 20 records less each second
        (0, 0, 0.0, "none"),
        (400, 0, 0.0, "none"),
        (400, 400, None, "the lag does not shrink"),
        (400, 500, None, "the lag does not shrink"),
    ],
)
def test_the_time_to_catch_up_is_that_of_the_speed_between_two_looks(before, now, seconds, words):
    (found,) = estimate_catch_up([_lag(before)], [_lag(now)], 5.0)

    assert found.lag == _lag(now)
    assert found.seconds == seconds
    assert describe_time(found) == words


def test_a_partition_that_is_new_has_no_time_to_catch_up():
    (found,) = estimate_catch_up([], [_lag(7)], 5.0)
    assert found.seconds is None


def test_a_topic_that_was_made_again_has_no_lag():
    assert GroupLag("g", "t", 0, 900, 0, 10).records == 0


def test_a_partition_without_a_committed_offset_waits_from_its_first_record():
    lag = GroupLag("g", "t", 0, None, 4, 10)
    labels = 'consumergroup="g",topic="t",partition="0"'

    assert lag.records == 6
    assert [line for line in format_metrics([lag]) if "{" in line] == [
        f"kafka_consumergroup_lag{{{labels}}} 6"
    ]


@contextmanager
def _served(read):
    with make_exporter(("127.0.0.1", 0), read) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_prometheus_reads_a_lag_of_each_partition():
    lags = [_lag(12), _lag(3, 1, 'a"b')]
    with _served(lambda: lags) as url, urllib.request.urlopen(f"{url}/metrics") as answer:
        lines = answer.read().decode().splitlines()

    labels = 'consumergroup="analytics-consumer",topic="sensor",partition="0"'
    assert f"kafka_consumergroup_lag{{{labels}}} 12" in lines
    assert f"kafka_consumergroup_current_offset{{{labels}}} 100" in lines
    assert 'topic="a\\"b",partition="1"} 3' in "\n".join(lines)
    assert [line for line in lines if line.startswith("# TYPE")] == [
        "# TYPE kafka_consumergroup_lag gauge",
        "# TYPE kafka_consumergroup_current_offset gauge",
    ]
    assert lines == list(format_metrics(lags))


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [("/metrics", 503, "no broker answers"), ("/", 404, "the lags are at /metrics")],
)
def test_a_scrape_fails_while_no_broker_answers(path, code, text):
    def fail():
        raise BrokerUnavailableError("no broker answers")

    with _served(fail) as url, pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{url}{path}")
    assert caught.value.code == code
    assert text in caught.value.read().decode()
