"""Each way that an event and a record can take, taken: refused, given up, tried again, joined."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from demo.accounts import make_jobs
from demo.rows import read_table
from localcloud.testing import invoke, wait_until
from penstock.framing import SchemaKey, encode_glue_frame
from penstock.schemas import encode, load_schema
from penstock.spark.state.lease import LEASE_PREFIX
from tests.e2e.accounts import CONSUMER, DASHBOARD, PRODUCER, Accounts, Root
from tests.e2e.analysts import GRANTS_IN_PART
from tests.e2e.jobs import Submitted
from tests.e2e.payments import (
    PAYMENT_JOBS,
    TABLES,
    TOPIC,
    await_payments,
    read_payments,
    send_payments,
)
from tests.e2e.registry import Registry
from tests.e2e.sales import SALE, SALES, SHOP_RUN, SUMMARY_RUN, TOTALS_RUN
from tests.e2e.staging import JOB, Review, make_staging_job

_SENSOR = {"RegistryName": "penstock", "SchemaName": "sensor"}
_ERRORS, _SHOP = "penstock-analytics-errors", "shop"
_ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "deviceId", "type": "string"},  # as the function, which has no routes, wants
        {"name": "orderId", "type": "string"},
        {"name": "timestamp", "type": "long"},
        {"name": "temperature", "type": "string"},  # which is a number of sensors
    ],
}


@dataclass(frozen=True)
class Exercised:
    """The accounts, the consumer's table of errors before and after the replay, and its jobs.

    `said` is what `penstock submit` printed, by run.
    """

    accounts: Accounts
    given_up: dict[str, dict[str, Any]]
    tried_again: dict[str, dict[str, Any]]
    review: Review
    payments_of_the_function: dict[str, dict[str, Any]]
    said: dict[str, str]


def list_jobs(**writes: str) -> dict[str, Any]:
    """Return the input `jobs`: the demo's job reads one of the topics, with these routes."""
    jobs = make_jobs(**writes)
    jobs["consume"]["reads"] = ["sensor"]
    return jobs | PAYMENT_JOBS


@contextmanager
def disturb(accounts: Accounts) -> Iterator[None]:
    """Have events refused, and write records that the Spark job gives up when it runs next.

    An order contradicts the readings until its schema has a route. The function knows no routes
    and takes it for a reading; that row, which the lake has not, is put aside meanwhile.
    """
    _refuse(accounts, {"temperature": "warm"}, "SchemaConflictError")
    glue = accounts.client("glue", PRODUCER)
    settings = {"SchemaId": _SENSOR, "SchemaVersionNumber": {"LatestVersion": True}}
    glue.update_schema(**settings, Compatibility="DISABLED")
    _refuse(accounts, {"unheard_of": 1}, "IncompatibleSchemaError")
    glue.update_schema(**settings, Compatibility="BACKWARD")
    accounts.write("sensor", json.dumps(SALE).encode())  # no frame: of use to jobs of sales alone
    accounts.write("sensor", b"junk" * 120_000)  # more than a row holds
    accounts.write("sensor", _make_order(glue))
    analytics = accounts.consumers["analytics"]
    wait_until("both are kept", lambda: len(_read_dead_letters(analytics)) == 2, 60)
    key = wait_until("the order is a reading", lambda: _find_order(accounts), 60)
    dynamodb = accounts.client("dynamodb", CONSUMER)
    table = {"TableName": "penstock-analytics-readings"}
    order = dynamodb.delete_item(**table, Key=key, ReturnValues="ALL_OLD")["Attributes"]
    yield
    dynamodb.put_item(**table, Item=order)


def exercise(accounts: Accounts, registry: Registry) -> Exercised:
    """Try the records again that were given up, by what the operator does; stage and join all."""
    analytics = accounts.consumers["analytics"]
    given_up = _read_dead_letters(analytics)
    send_payments(accounts, registry)
    await_payments(accounts)
    payments = read_payments(accounts)
    environ = analytics.environ | analytics.operator_keys()
    submitted = (
        Submitted(analytics.folder, environ, (SUMMARY_RUN, TOTALS_RUN, TOPIC)),
        Submitted(accounts.producer.folder, accounts.producer.environ, (SHOP_RUN,)),
    )
    said = {run: told for each in submitted for run, told in each.wait().items()}
    analytics.extend(SALES + GRANTS_IN_PART + DASHBOARD)
    analytics.apply(
        refresh=False,
        jobs=list_jobs(order="orders", sensor="readings") | make_staging_job(analytics),
        tables=TABLES | {"orders": {"key": ["orderId"]}},
    )
    review = Review.of(analytics, accounts.rows("analytics").values())
    review.begin()
    accounts.make_story("analytics").run_jobs("maintain-readings", "replay", JOB)
    review.end()
    for account, function in (
        (PRODUCER, "penstock-status"),
        (CONSUMER, "penstock-analytics-status"),
    ):
        assert invoke(partial(accounts.client, account=account), function, {})[1] is None
    return Exercised(accounts, given_up, _read_dead_letters(analytics), review, payments, said)


def _read_dead_letters(consumer: Root) -> dict[str, dict[str, Any]]:
    """Read the table of errors without the leases that jobs hold there."""
    rows = read_table(consumer, _ERRORS, "id")
    return {name: row for name, row in rows.items() if not name.startswith(LEASE_PREFIX)}


def _refuse(accounts: Accounts, event: dict[str, Any], kind: str) -> None:
    with pytest.raises(AssertionError, match=f"RejectedEventError.*{kind}|{kind}.*RejectedEvent"):
        accounts.produce(event)


def _find_order(accounts: Accounts) -> dict[str, Any] | None:
    """Return the key of the row that the function has made of the order."""
    rows = accounts.rows("analytics").values()
    names = (row["readingId"] for row in rows if row["deviceId"] == _SHOP)
    return next(({"deviceId": {"S": _SHOP}, "readingId": {"S": name}} for name in names), None)


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
    now = int(time.time() * 1_000)
    order = {"deviceId": _SHOP, "orderId": "o-1", "timestamp": now, "temperature": "cool"}
    key = SchemaKey.parse(made["SchemaVersionId"])
    return encode_glue_frame(key, encode(order, load_schema(text)))
