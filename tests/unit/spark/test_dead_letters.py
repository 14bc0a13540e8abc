"""Dead letters of a flood of bad records: several requests at once, and no error is lost."""

from __future__ import annotations

import json
from threading import Barrier

import pytest

from penstock.consuming import KnownSchemas
from penstock.errors import Failure, Reason, SinkAccessDeniedError
from penstock.framing import FrameKind, Framing, SchemaKey, encode_glue_frame
from penstock.records import FailedRecord, Record, Source
from penstock.spark.failures import DynamoDbErrors, FailureFinder
from tests.stubs.dynamodb_api import Reply, refusal, serve_dynamodb

_RECORDS = [
    FailedRecord(
        Record(Source("t", 0, offset), b"k", b"{}"),
        Failure(Reason.UNDECODABLE, "x"),
        None,
        "spark",
        1,
    )
    for offset in range(24)
]


@pytest.fixture
def api(monkeypatch):
    with serve_dynamodb() as served:
        for name, text in {
            "AWS_ACCESS_KEY_ID": "AKIAMADEUP",
            "AWS_SECRET_ACCESS_KEY": "made-up",
            "AWS_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL": served.endpoint,
        }.items():
            monkeypatch.setenv(name, text)
        yield served


def test_all_requests_are_under_way_at_once(api) -> None:
    together = Barrier(24, timeout=60)  # breaks if there are fewer

    def answer(_: object) -> Reply:
        together.wait()
        return Reply()

    api.otherwise = answer
    DynamoDbErrors("at-once", "parked").keep(_RECORDS)

    ids = sorted(int(request["Item"]["id"]["S"].split("/")[2]) for request in api.requests)
    assert ids == list(range(24))
    assert api.connections == 24 + 1  # one to S3
    ((name, content),) = api.objects.items()
    assert name.startswith("/parked/dead-letters/")
    assert len(content.splitlines()) == 24


def test_an_error_of_one_request_is_raised(api) -> None:
    api.replies = [Reply()] * 5 + [refusal("AccessDeniedException")]

    with pytest.raises(SinkAccessDeniedError):
        DynamoDbErrors("one-fails", "parked").keep(_RECORDS)

    (line,) = api.objects  # it is written before the rows
    assert line.startswith("/parked/dead-letters/")


def test_a_record_that_other_versions_make_too_wide_says_so() -> None:
    key = SchemaKey(FrameKind.GLUE, bytes(16))
    finder = FailureFinder.of(Framing(), KnownSchemas({key: (json.dumps("string"), "event", 1)}))
    record = Record(Source("t", 0, 1), b"k", encode_glue_frame(key, b"\2x"))

    failed = finder.make_failed((record, "oversize"))

    assert failed.failure == Failure(
        Reason.OVERSIZE,
        "found more than 8,000,000 columns in all records inside the payload, with those of other"
        " versions, expected fewer",
    )


def test_no_records(api) -> None:
    DynamoDbErrors("none", "parked").keep([])

    assert api.requests == []
