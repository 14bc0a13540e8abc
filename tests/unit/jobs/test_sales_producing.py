"""Sales are written in their order, at once or at a rate, and a failure ends the job."""

from __future__ import annotations

import json
from collections import namedtuple
from datetime import UTC, datetime
from functools import partial
from unittest.mock import MagicMock, patch

import pytest

from jobs.sales.producing import build_message, produce_sales, seed_topic
from jobs.sales.settings import FileSettings, ProduceSettings
from penstock.errors import DeliveryError
from penstock.kafka import Delivery, KafkaSettings, Security

_Row = namedtuple("_Row", "payment_id customer_id amount city district country")
_ROWS = [_Row(number, 1, "10.99", None, "", "Peru") for number in (7, 9, 8)]
_NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def _settings(**changes):
    kafka = KafkaSettings(("b-1.example:9092",), Security.PLAINTEXT)
    return ProduceSettings(kafka, FileSettings(), "sales", **changes)


@pytest.fixture
def sent():
    """The calls of the producer: a list of messages each."""
    calls, producer = [], MagicMock()

    def send_all(messages):
        calls.append(messages)
        return [Delivery("sales", 0, at) for at, _ in enumerate(messages)]

    producer.send_all.side_effect = send_all
    with (
        patch("jobs.sales.producing.ensure_topic") as ensure,
        patch("jobs.sales.producing.open_producer", return_value=producer),
    ):
        yield calls
    properties = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
    assert ensure.call_args.args[1].properties == properties
    producer.close.assert_called_once_with()


def test_a_message_is_json_with_its_time():
    message = build_message("sales", _ROWS[0], _NOON)

    assert (message.key, message.timestamp_ms) == (b"7", int(_NOON.timestamp() * 1000))
    assert json.loads(message.value) == {
        "payment_id": 7, "customer_id": 1, "amount": 10.99, "city": None, "district": "",
        "country": "Peru", "payment_date": "2026-11-23T12:00:00+00:00",
    }  # fmt: skip


def test_first_sales_have_payment_dates_in_the_order_of_their_ids(sent):
    seed_topic(_settings(since=_NOON), _ROWS)

    dates = {each.key: json.loads(each.value)["payment_date"] for each in sent[0]}
    noon = int(_NOON.timestamp())
    assert dates == {b"7": noon - 2, b"9": noon, b"8": noon - 1}
    assert list(dates) == [b"7", b"9", b"8"]


def test_later_sales_come_one_by_one_at_the_rate(sent):
    pauses = []
    produce_sales(_settings(rate=4), _ROWS, partial(build_message, "sales"), pauses.append)

    assert [[each.key for each in call] for call in sent] == [[b"7"], [b"9"], [b"8"]]
    assert pauses == [0.25, 0.25, 0.25]


def test_with_a_first_time_nothing_waits(sent):
    build = partial(build_message, "sales")
    produce_sales(_settings(rate=2, since=_NOON), _ROWS, build, pytest.fail)

    (messages,) = sent
    noon = int(_NOON.timestamp() * 1000)
    assert [each.timestamp_ms - noon for each in messages] == [0, 500, 1_000]


def test_a_message_that_is_not_acknowledged_ends_the_job():
    producer = MagicMock()
    producer.send_all.return_value = [DeliveryError("not acknowledged")]
    with (
        patch("jobs.sales.producing.ensure_topic"),
        patch("jobs.sales.producing.open_producer", return_value=producer),
        pytest.raises(DeliveryError, match="not acknowledged"),
    ):
        produce_sales(_settings(since=_NOON), _ROWS, partial(build_message, "sales"))
    producer.close.assert_called_once_with()
