"""Payments in the frames of Confluent's client, which a function, a Spark job and staging read."""

from __future__ import annotations

import json
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from demo.rows import read_table
from localcloud.testing import wait_until
from tests.e2e.accounts import CONSUMER, Accounts
from tests.e2e.registry import CONFLUENT_URL, Registry

TOPIC = "payments"
FUNCTION = f"consumer-{TOPIC}"
JUNK = b"junk"
_EURO = {"name": "currency", "type": ["null", "string"], "default": None}
_FIELDS: list[dict[str, Any]] = [
    {"name": "paymentId", "type": "string"},
    {"name": "amount", "type": "double"},
]
PAYMENTS: dict[str, dict[str, Any]] = {
    "p-1": {"paymentId": "p-1", "amount": 4.5},
    "p-2": {"paymentId": "p-2", "amount": 7.25, "currency": "EUR"},
}
# Its registry needs no login; the range is that of the consumer's VPC.
REGISTRIES = [{"cidr": "10.1.0.0/16", "url": CONFLUENT_URL}]
FUNCTIONS = {
    "consumer": {"topics": ["sensor"]},
    FUNCTION: {"table": TOPIC, "topics": [TOPIC]},
}
PAYMENT_JOBS: dict[str, Any] = {
    TOPIC: {"reads": [TOPIC], "trigger": "available-now", "writes": {"*": TOPIC}}
}
MAINTAIN_RUN, REPLAY_RUN = f"maintain-{TOPIC}", f"replay-{TOPIC}"
TABLES = {TOPIC: {"event_time": "none", "key": ["paymentId"]}}
STAGED = {"name": "receipts", "topics": [TOPIC], "key": "paymentId"}


def send_payments(accounts: Accounts, registry: Registry) -> None:
    """Register two versions and write a payment of each, then bytes that are no frame."""
    registry.enter(CONSUMER, "penstock-analytics")
    client = SchemaRegistryClient({"url": f"{registry.url}/apis/ccompat/v7"})
    for fields, payment in zip(([], [_EURO]), PAYMENTS.values(), strict=True):
        schema = {"type": "record", "name": "Payment", "fields": _FIELDS + fields}
        context = SerializationContext(TOPIC, MessageField.VALUE)
        accounts.write(TOPIC, AvroSerializer(client, json.dumps(schema))(payment, context))
    accounts.write(TOPIC, JUNK)
    client._rest_client.session.close()  # it has no method for that


def await_payments(accounts: Accounts) -> None:
    """Wait until the function has written the payments and given up the junk."""
    wait_until("all payments are rows", lambda: len(read_payments(accounts)) == len(PAYMENTS), 120)
    wait_until("the junk is given up", lambda: read_dead_letters(accounts, TOPIC), 60)


def read_payments(accounts: Accounts) -> dict[str, dict[str, Any]]:
    """Return the rows of the function's table, which the Spark job writes too."""
    return accounts.rows("analytics", FUNCTION)


def read_dead_letters(accounts: Accounts, job: str) -> list[dict[str, Any]]:
    """Return the dead letters of the topic that a job and its function have kept."""
    rows = read_table(accounts.consumers["analytics"], f"penstock-analytics-{job}-errors", "id")
    return [row for name, row in rows.items() if name.startswith(f"{TOPIC}/")]
