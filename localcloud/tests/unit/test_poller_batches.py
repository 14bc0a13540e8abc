"""Records become events: what they look like, which are wanted, how many fit into one."""

from __future__ import annotations

import base64
import json

import pytest

from localcloud.poller import batch
from localcloud.poller.batch import is_wanted, make_event, make_item, split_by_size
from tests.stubs.poller import record, settings


def test_runs_fit_into_events(monkeypatch):
    monkeypatch.setattr(batch, "MAX_EVENT_BYTES", 2000)
    items = [make_item(record(offset, b"x" * (offset * 37 % 400))) for offset in range(60)]
    runs = list(split_by_size(["b:9092"], items))
    assert [item for run in runs for item in run] == items
    assert len(runs) > 5
    assert all(len(make_event(["b:9092"], run)) <= 2000 for run in runs)


def test_a_tombstone_has_no_value_and_bytes_of_headers_are_signed():
    fields = json.loads(make_item(record(1, None, key=b"k", headers=[("h", b"\x01\xfe")])).text)
    assert "value" not in fields
    assert base64.b64decode(fields["key"]) == b"k"
    assert fields["headers"] == [{"h": [1, -2]}]


def test_the_time_of_the_log_is_named():
    assert '"timestampType":"LOG_APPEND_TIME"' in make_item(record(1, timestamp_type=1)).text


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(b'{"a": 1}', True), (b'{"a": 2}', False), (b"\xff", False), (None, False)],
)
def test_a_filter_reads_values_as_json(value, wanted):
    assert is_wanted(record(0, value), [{"value": {"a": [1]}}]) is wanted


def test_without_filters_all_is_wanted():
    assert is_wanted(record(0, b"\xff"), [])


@pytest.mark.parametrize(
    ("given", "seconds"), [({}, 0.5), ({"MaximumBatchingWindowInSeconds": 0}, 0)]
)
def test_a_window_of_zero_is_not_the_default(given, seconds):
    assert settings(**given).window_seconds == seconds
