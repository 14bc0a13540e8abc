"""Credentials that end while a job runs: its executors go on with the next ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from penstock.errors import SinkAccessDeniedError
from penstock.spark.failures import DynamoDbErrors
from penstock.spark.sinks.dynamodb import DynamoDbTable
from tests.spark.lakes import NOON_MS, part
from tests.spark.records import make_decoded, make_version
from tests.stubs.dynamodb_api import Reply, refusal, serve_dynamodb
from tests.stubs.http import serve

_SCHEMA = {
    "type": "record",
    "name": "Event",
    "fields": [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"}],
}
_DENIED = (
    "User: arn:aws:sts::111111111111:assumed-role/penstock-analytics-spark/x is not authorized to "
    "perform: dynamodb:BatchWriteItem on resource: arn:aws:dynamodb:::table/r"
)


class Role:
    """A role whose credentials hold for a minute, handed out as containers get them."""

    def __init__(self):
        self.valid = "AKIDONE"
        self.used = []

    def hand_out(self, headers, body):
        ends = datetime.now(UTC) + timedelta(minutes=1)
        given = {
            "AccessKeyId": self.valid, "SecretAccessKey": "any", "Token": "any",
            "Expiration": ends.isoformat(),
        }  # fmt: skip
        return 200, "application/json", json.dumps(given).encode()

    def accept(self, authorization):
        """Answer as DynamoDB does: to the valid ones alone."""
        key = authorization.partition("Credential=")[2].partition("/")[0]
        self.used.append(key)
        if key != self.valid:
            return refusal("ExpiredTokenException", "The security token is expired")
        return Reply()


@pytest.fixture
def api():
    with serve_dynamodb() as served:
        yield served


@pytest.fixture
def role(spark, api, monkeypatch, tmp_path):
    """The role of the executors, on their machine alone."""
    role = Role()
    api.otherwise = lambda _: role.accept(api.headers[-1]["Authorization"])
    nowhere = str(tmp_path / "none")
    with serve(role.hand_out) as address:
        environ = {
            "AWS_ACCESS_KEY_ID": "", "AWS_CONFIG_FILE": nowhere, "AWS_REGION": "eu-central-1",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": address, "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL": api.endpoint, "AWS_SHARED_CREDENTIALS_FILE": nowhere,
        }  # fmt: skip
        for name, text in environ.items():
            monkeypatch.setitem(spark.sparkContext.environment, name, text)
        yield role


@pytest.fixture
def write(spark):
    version = make_version(1, _SCHEMA)
    rows = make_decoded(spark, version, {"deviceId": "a", "timestamp": NOON_MS})
    sink = DynamoDbTable("r", DynamoDbErrors("e", "no-bucket"))
    return lambda number: sink.write(rows, part(number, 0, versions=[version]))


def test_executors_go_on_with_the_next_credentials(role, write):
    write(0)
    role.valid = "AKIDTWO"
    write(1)

    assert role.used == ["AKIDONE", "AKIDTWO"]


def test_a_role_that_is_denied_is_named_with_what_it_may_not(api, role, write):
    api.otherwise = lambda _: refusal("AccessDeniedException", _DENIED)

    with pytest.raises(SinkAccessDeniedError, match=(
        r"^DynamoDB's BatchWriteItem was refused: AccessDeniedException: User: .*:assumed-role/"
        r"penstock-analytics-spark/x is not authorized to perform: dynamodb:BatchWriteItem"
    )):  # fmt: skip
        write(0)
