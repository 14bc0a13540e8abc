"""Records that were given up reach the table of errors from the executors, whole."""

from __future__ import annotations

import json
from base64 import b64decode

from penstock.framing import Framing
from penstock.spark.decoding.frames import split_frames
from penstock.spark.failures import DynamoDbErrors, Judge, file_errors
from tests.spark.lakes import NOON_MS
from tests.spark.records import GLUE, make_topic
from tests.stubs.dynamodb_api import serve_dynamodb


def test_errors_are_put_into_dynamodb_by_the_executors(spark, monkeypatch):
    rows = split_frames(make_topic(spark, [b"{}", b"\3\0cut"]), GLUE)
    with serve_dynamodb() as api:
        for name, text in {
            "AWS_ACCESS_KEY_ID": "AKIAMADEUP",
            "AWS_SECRET_ACCESS_KEY": "made-up",
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL": api.endpoint,
        }.items():
            monkeypatch.setitem(spark.sparkContext.environment, name, text)

        counts = file_errors(
            rows, Judge.of_versions((), {}, Framing()), DynamoDbErrors("errors", "parked")
        )

    kept = {request["Item"]["id"]["S"]: request["Item"] for request in api.requests}
    assert counts == {"unknown-framing": 1, "truncated": 1}
    assert {name: item["reason"]["S"] for name, item in kept.items()} == {
        f"readings/0/0/{NOON_MS}": "unknown-framing",
        f"readings/0/1/{NOON_MS}": "truncated",
    }
    cut = kept[f"readings/0/1/{NOON_MS}"]
    assert (b64decode(cut["key"]["B"]), b64decode(cut["value"]["B"])) == (b"k", b"\3\0cut")
    assert cut["stage"]["S"] == "spark"
    assert "expected a header of 18" in cut["detail"]["S"]
    logged = b"".join(api.objects.values()).splitlines()
    assert {json.loads(line)["id"] for line in logged} == kept.keys()
