"""Frames need no header and no offset: a stream of Kinesis returns them as they were."""

from __future__ import annotations

import boto3
import pytest
from moto import mock_aws

from penstock.framing import FrameKind, SchemaKey, decode_frame, encode_frame

_KEYS = (SchemaKey(FrameKind.GLUE, bytes(range(16))), SchemaKey.parse("confluent:17"))
_FRAMES = [(_KEYS[number % 2], b"\x00\xff %d" % number) for number in range(100)]


@pytest.fixture
def kinesis(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        yield boto3.client("kinesis", region_name="eu-central-1")


def test_a_hundred_frames_come_back_from_a_stream(kinesis):
    kinesis.create_stream(StreamName="sensor", ShardCount=1)
    records = [{"Data": encode_frame(*each), "PartitionKey": "pump"} for each in _FRAMES]
    assert kinesis.put_records(StreamName="sensor", Records=records)["FailedRecordCount"] == 0

    (shard,) = kinesis.list_shards(StreamName="sensor")["Shards"]
    at = kinesis.get_shard_iterator(
        StreamName="sensor", ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )
    found = kinesis.get_records(ShardIterator=at["ShardIterator"])["Records"]

    frames = [decode_frame(record["Data"]) for record in found]
    assert [(frame.key, frame.payload) for frame in frames if frame] == _FRAMES
