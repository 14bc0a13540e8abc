"""What a poller is between: records of a topic, and a function that fails as it is told."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

from kafka import TopicPartition

from localcloud.poller.delivery import CallRefusedError, Reply
from localcloud.poller.settings import read_settings

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
NOW_MS = int(time.time() * 1000)


def settings(**changes):
    """Settings of a mapping as localcloud keeps it."""
    return read_settings(view(**changes))


def view(**changes):
    """A mapping as its API shows it."""
    return {
        "UUID": "u",
        "FunctionArn": "arn:aws:lambda:eu-central-1:111111111111:function:f",
        "SelfManagedEventSource": {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": ["b:9092"]}},
        "Topics": ["t"],
        "SelfManagedKafkaEventSourceConfig": {"ConsumerGroupId": "g"},
        "BatchSize": 10,
        "StartingPosition": "LATEST",
        "SourceAccessConfigurations": [],
        **changes,
    }


def record(offset, value=b"v", partition=0, timestamp_ms=NOW_MS, **changes):
    """A record as kafka-python has it."""
    values = {"key": None, "headers": [], "timestamp_type": 0}
    return SimpleNamespace(
        topic="t",
        partition=partition,
        offset=offset,
        timestamp=timestamp_ms,
        value=value,
        **(values | changes),
    )


class Function:
    """A function that fails as `judge` says and remembers what it was given."""

    def __init__(self, judge=lambda places: None, refusals=0, refused_discards=0):
        self.judge, self.refusals, self.refused_discards = judge, refusals, refused_discards
        self.calls, self.discarded = [], []

    def invoke(self, event):
        if self.refusals:
            self.refusals -= 1
            raise CallRefusedError("throttled")
        records = json.loads(event)["records"]
        places = [(r["partition"], r["offset"]) for rs in records.values() for r in rs]
        self.calls.append(places)
        answer = self.judge(places)
        failed = answer == "fail"
        body = b"" if failed else json.dumps(answer).encode()
        return Reply("r", "$LATEST", "Unhandled" if failed else None, body)

    def discard(self, record, event):
        if self.refused_discards:
            self.refused_discards -= 1
            raise CallRefusedError("destination down")
        self.discarded.append((record, event))
