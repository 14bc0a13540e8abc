"""Each way that an event and a record can take, taken: refused, given up, tried again."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import pytest

from demo.accounts import SPARK
from demo.rows import read_table
from penstock.framing import encode_glue_frame
from penstock.schemas import encode, load_schema
from tests.e2e.accounts import PRODUCER, Accounts
from tests.fixtures.functions import wait_until

_SENSOR = {"RegistryName": "penstock", "SchemaName": "sensor"}
_ROUTES = {"order": "orders", "sensor": "readings"}
_ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "deviceId", "type": "string"},
        {"name": "timestamp", "type": "long"},
        {"name": "temperature", "type": "string"},  # which is a number of sensors
    ],
}


@dataclass(frozen=True)
class Exercised:
    """The accounts, and the consumer's table of errors before and after the replay."""

    accounts: Accounts
    given_up: dict[str, dict[str, Any]]
    tried_again: dict[str, dict[str, Any]]


def exercise(accounts: Accounts) -> Exercised:
    """Have events refused, and records given up that are tried again by what the operator does.

    An order contradicts the readings, until its schema is given a route.
    """
    _refuse(accounts, {"temperature": "warm"}, "SchemaConflictError")
    glue = accounts.client("glue", PRODUCER)
    settings = {"SchemaId": _SENSOR, "SchemaVersionNumber": {"LatestVersion": True}}
    glue.update_schema(**settings, Compatibility="DISABLED")
    _refuse(accounts, {"unheard_of": 1}, "IncompatibleSchemaError")
    glue.update_schema(**settings, Compatibility="BACKWARD")
    analytics, errors = accounts.consumers["analytics"], "penstock-analytics-errors"
    before = len(read_table(analytics, errors, "id"))
    accounts.write("sensor", b"junk")
    accounts.write("sensor", b"junk" * 120_000)  # more than a row holds
    accounts.write("sensor", _make_order(glue))
    wait_until("both are kept", lambda: len(read_table(analytics, errors, "id")) == before + 2, 60)
    accounts.tell_story("analytics").run_jobs("consume")
    given_up = read_table(analytics, errors, "id")
    analytics.apply(spark=SPARK | {"routes": _ROUTES})
    accounts.tell_story("analytics").run_jobs("maintain-readings", "replay")
    return Exercised(accounts, given_up, read_table(analytics, errors, "id"))


def _refuse(accounts: Accounts, event: dict[str, Any], kind: str) -> None:
    with pytest.raises(AssertionError, match=f"RejectedEventError.*{kind}|{kind}.*RejectedEvent"):
        accounts.produce(event)


def _make_order(glue: Any) -> bytes:
    """Register the schema of orders beside that of the sensors, and make the record of one."""
    text = json.dumps(_ORDER)
    made = glue.create_schema(
        RegistryId={"RegistryName": "penstock"},
        SchemaName="order",
        DataFormat="AVRO",
        Compatibility="BACKWARD",
        SchemaDefinition=text,
    )
    order = {"deviceId": "shop", "timestamp": int(time.time() * 1_000), "temperature": "cool"}
    return encode_glue_frame(made["SchemaVersionId"], encode(order, load_schema(text)))
