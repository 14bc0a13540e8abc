"""The story of two accounts: applied, used, changed piece by piece, and destroyed.

The tests run in the order of the file: each builds on what the ones before it have made.
"""

from __future__ import annotations

import base64
import json
import zipfile
from functools import partial
from pathlib import Path

import pytest

from demo.screen import StepFailedError
from localcloud.testing import wait_until
from penstock.framing import decode_frame
from tests.e2e.accounts import (
    CONSUMER,
    DEPLOYERS,
    PRODUCER,
    PRODUCER_DEPLOYER,
    at_once,
    without_creations,
)
from tests.e2e.conftest import CANARY, READER
from tests.e2e.deployers import REWRITING, WITHDRAWN, read_seen, read_used, withdraw, write_seen
from tests.e2e.leftovers import list_everything, list_usable_keys
from tests.e2e.payments import FUNCTIONS, REGISTRIES
from tests.e2e.registry import URL
from tests.e2e.watches import Watch

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

# The kinds of policies with which the roots are applied.
_APPLYING = ("consumer", "lake-formation", "producer")
_ROTATED = READER | {"rotation": 2}
# Orders have their schema in the registry of another team.
_READS_ORDERS = {
    "topics": ["sensor", "orders"],
    "registries": [{"url": URL, "cidr": "10.1.0.0/16"}],
}
# By both of its APIs, which share a rule.
_READS_ALL = {
    "topics": [*READER["topics"], "orders"],
    "registries": [*REGISTRIES, *_READS_ORDERS["registries"]],
}
# In the producer's own account: names of the two roots do not clash.
_OTHER = {
    "name": "billing",
    "account_id": PRODUCER,
    "deploy_role_arn": DEPLOYERS["billing"],
    **_READS_ORDERS,
}
_SHAPE_OF_ORDERS = {
    "key": ["shop", "orderId"],
    "event_time": "none",
    "mode": "upsert",
    "order": ["revision"],
}
_PRODUCER_OF_ORDERS = _SHAPE_OF_ORDERS | {"topic": "orders"}
# Orders have a key of their own and no time, and the newest revision is the row.
_FUNCTIONS_OF_BILLING = {
    "consumer": {"topics": ["sensor"]},
    "consumer-orders": {"table": "orders", "topics": ["orders"]},
}
# For a while the other consumer reads them too.
_OF_ORDERS = {"consumer": {"topics": ["sensor", "orders"]}}
_ORDERS = _SHAPE_OF_ORDERS | {"key_name": "order", "sort_name": "none"}


@pytest.fixture(scope="module")
def billing(registry):
    """The entry of the second consumer, which reads the registry with the secret."""
    (read,) = _OTHER["registries"]
    return _OTHER | {"registries": [read | {"secret_arn": registry.secret_arn}]}


def test_the_plan_rejects_changes_of_fixed_inputs(accounts):
    """Other zones would be another cluster, another name another registry."""
    zones = ["euc1-az1", "euc1-az2", "euc1-az3"]

    cluster, registry = sorted(
        accounts.producer.try_plan(
            cluster={"broker_count": 3, "volume_gib": 10},
            network={"cidr": "10.0.0.0/16", "zone_ids": zones},
            registry="events",
        )
    )

    assert "postcondition failed: The cluster stands in other subnets" in cluster
    assert f"than subnet_ids has now ({', '.join(zones)}); give it its own again" in cluster
    assert "The registry is called penstock and name is events; give it its own name" in registry


def test_an_event_reaches_a_plain_client_and_the_table(accounts):
    answer = accounts.produce({"temperature": 30})

    wanted = "{partition}/{offset}".format(**answer)
    (record,) = accounts.read("analytics", "sensor", 1, only=wanted)
    frame = decode_frame(base64.b64decode(record["value"]))
    assert str(frame.key) == answer["schema"]["id"]
    row = accounts.await_row("analytics", answer)
    assert (row["deviceId"], row["temperature"]) == ("000001", 30)


def test_an_alarm_is_on_until_the_kept_event_is_replayed(accounts, client):
    watch = Watch(accounts, accounts.producer, "penstock", "producer-kept-events")
    bucket = {"Bucket": accounts.producer.outputs()["rejected_events_bucket"]}
    s3, glue = client("s3", PRODUCER), client("glue", PRODUCER)
    for each in s3.list_objects_v2(**bucket).get("Contents", []):  # of the tests before
        s3.delete_object(**bucket, Key=each["Key"])
    schema = {
        "SchemaId": {"RegistryName": "penstock", "SchemaName": "sensor"},
        "SchemaVersionNumber": {"LatestVersion": True},
    }
    glue.update_schema(**schema, Compatibility="DISABLED")
    assert "IncompatibleSchemaError" in accounts.refuse({"unheard_of": 1})
    glue.update_schema(**schema, Compatibility="BACKWARD")

    assert watch.count() == "ALARM"
    assert watch.wait() == "ALARM"  # a count that is missing is no count of nothing
    assert watch.count() == "ALARM"
    assert "penstock-producer: 1 kept events" in watch.penstock("status", "--fail", code=1)
    assert "1 written, 0 stay" in watch.penstock("rejected", "replay", "penstock-producer/")
    wait_until("the alarm is over", lambda: watch.count() == "OK", 60)
    assert "penstock-producer: 0 kept events" in watch.penstock("status", "--fail")


def test_an_alarm_is_on_until_the_dead_letter_is_settled(accounts, client):
    watch = Watch(accounts, accounts.consumers["analytics"], "penstock-analytics", "errors-open")
    table = "penstock-analytics-errors"
    before = watch.read_open(table)
    accounts.write("sensor", b"junk")
    wait_until("the record is a dead letter", lambda: watch.read_open(table) > before, 60)

    assert watch.count() == "ALARM"
    assert watch.wait() == "ALARM"
    assert watch.count() == "ALARM"
    dynamodb = client("dynamodb", CONSUMER)
    for row in dynamodb.scan(TableName=table, FilterExpression="attribute_exists(nextAttemptAt)")[
        "Items"
    ]:  # as a replay parks them
        dynamodb.update_item(
            TableName=table,
            Key={"id": row["id"]},
            UpdateExpression="SET parkedAt = :where REMOVE nextAttemptAt",
            ExpressionAttributeValues={":where": {"S": "s3://parked/records/1"}},
        )
    wait_until("the alarm is over", lambda: watch.count() == "OK", 60)
    assert watch.read_open(table) == 0


def test_one_apply_changes_the_cluster_topics_and_a_password_and_nothing_else(
    accounts, registry, billing, set_password
):
    """The login that the consumer has is refused at no time."""
    way = {
        "secret_arn": registry.secret_arn,
        "security_group_id": registry.enter(PRODUCER, "penstock"),
    }
    cluster = accounts.producer.variables["cluster"]
    set_password(f"{CANARY}-rotated")

    apply = partial(
        accounts.producer.apply,
        cluster=cluster | {"properties": {"message.max.bytes": "2000000"}},
        consumers=[_ROTATED | _READS_ALL, billing],
        producers={
            "producer": {"topic": "sensor", "policy": "exact"},
            "orders": _PRODUCER_OF_ORDERS | {"registry": {"url": URL, **way}},
        },
        topics=accounts.producer.variables["topics"]
        | {"orders": {"partitions": 1}, "returns": {"partitions": 1}},
    )
    changes, admitted = accounts.log_in_during("analytics", apply)

    # The second users of one consumer, and those of the other.
    assert changes["aws_secretsmanager_secret", "create"] == 6
    assert without_creations(changes) == {
        ("aws_cloudwatch_dashboard", "update"): 1,  # the topics
        ("aws_iam_role_policy", "update"): 1,  # what is counted
        ("aws_lambda_function", "update"): 1,
        ("aws_lambda_invocation", "replace"): 1,
        ("aws_msk_cluster", "update"): 1,
        ("aws_msk_configuration", "update"): 1,
        ("aws_msk_scram_secret_association", "update"): 1,
    }
    assert admitted - {None} == {True}


def test_the_consumer_takes_its_new_contract(accounts):
    analytics = accounts.consumers["analytics"]
    before = accounts.password_of(analytics)
    accounts.hand_over("analytics")

    functions = FUNCTIONS | _OF_ORDERS
    apply = partial(analytics.apply, refresh=False, consumer_functions=functions)
    changes, admitted = accounts.log_in_during("analytics", apply)

    assert changes["aws_lambda_event_source_mapping", "create"] == 1
    assert without_creations(changes) == {
        ("aws_lambda_function", "update"): 2,
        ("aws_s3_object", "update"): 1,
        ("aws_secretsmanager_secret_version", "replace"): 3,
    }
    assert accounts.password_of(analytics) != before
    assert admitted - {None} == {True}
    accounts.read("analytics", "sensor", 1)
    answer = accounts.produce({"temperature": 31})
    assert not answer["schema"]["created"]
    accounts.await_row("analytics", answer)


def test_a_new_topic_is_closed_to_those_whom_it_is_not_granted(accounts):
    accounts.write("orders", b"one")
    (record,) = accounts.read("analytics", "orders", 1)
    assert base64.b64decode(record["value"]) == b"one"
    wait_until(
        "returns is closed",
        lambda: "returns is not authorized" in accounts.read_in_vain("analytics", "returns"),
    )


def test_a_consumer_is_added_and_a_topic_is_closed_again(accounts, registry, billing):
    """All at once: zones and endpoints wait beside each other."""
    producer, analytics = accounts.producer, accounts.consumers["analytics"]
    second = accounts.add_consumer(
        "billing", PRODUCER, consumer_functions=_FUNCTIONS_OF_BILLING, tables={"orders": _ORDERS}
    )

    change = partial(producer.apply, refresh=False, consumers=[_ROTATED, billing])
    changes, _ = at_once(change, second.apply)
    registry.enter(PRODUCER, "penstock-billing")
    assert changes == {("aws_lambda_invocation", "replace"): 1}
    wait_until(
        "orders is closed",
        lambda: "orders is not authorized" in accounts.read_in_vain("analytics", "orders"),
    )

    accounts.hand_over("analytics")
    assert analytics.apply(refresh=False, consumer_functions=FUNCTIONS) == {
        ("aws_lambda_event_source_mapping", "delete"): 1,
        ("aws_lambda_function", "update"): 2,
        ("aws_s3_object", "update"): 1,
    }


def test_nothing_is_left_to_do(accounts):
    """The second consumer has the root of the first; what AWS tells of it is looked at there."""
    assert accounts.list_unfinished(as_known=("billing",)) == []


def test_both_consumers_have_all_records(accounts):
    answer = accounts.produce({"temperature": 32})
    for name in accounts.consumers:
        accounts.read(name, "sensor", 2)
        assert accounts.await_row(name, answer)["temperature"] == 32

    known = accounts.rows("analytics")
    wait_until("all rows are there", lambda: accounts.rows("billing") == known)


def test_an_event_with_a_key_and_a_registry_of_its_own_becomes_a_row(accounts, registry, client):
    newest = {"shop": "s", "orderId": "o-1", "revision": 2, "total": 30.5}
    accounts.produce(newest, "orders")
    accounts.produce(newest | {"revision": 1, "total": 10.5}, "orders")
    gift = {"shop": "s", "orderId": "o-2", "revision": 1, "gift": True}
    answer = accounts.produce(gift, "orders")
    no_row = accounts.refuse({"shop": "s", "orderId": "o-3", "total": 1.5}, "orders")
    assert "revision: found null, expected a number or a string" in no_row

    # The topic has one partition, so the row of the last event is written last.
    assert accounts.await_row("billing", answer, "consumer-orders")["gift"] is True
    rows = accounts.rows("billing", "consumer-orders").values()
    assert sorted((row["order"], row["revision"]) for row in rows) == [("s/o-1", 2), ("s/o-2", 1)]
    order = {"shop", "orderId", "revision", "total"}
    assert registry.list_fields("orders") == [order, order | {"gift"}]
    known = client("glue", PRODUCER).list_schemas(RegistryId={"RegistryName": "penstock"})
    assert "orders" not in {schema["SchemaName"] for schema in known["Schemas"]}


def test_no_password_is_in_terraforms_state_plan_or_output(accounts):
    for consumer in accounts.consumers.values():
        assert CANARY in accounts.password_of(consumer)

    for root in (accounts.producer, *accounts.consumers.values()):
        kept = [path for path in root.infra.rglob("*") if ".terraform" not in path.parts]
        assert {"said", "plan", "terraform.tfstate"} <= {path.name for path in kept}
        for path in filter(Path.is_file, kept):
            assert CANARY.encode() not in _read_unpacked(path), path
        assert CANARY not in str(root.environ)
    assert CANARY not in (accounts.cloud.folder / "calls.jsonl").read_text()


@pytest.mark.skipif(REWRITING, reason="a role that may do everything lacks no action")
def test_an_apply_fails_by_an_action_that_its_policy_lacks(accounts, client):
    words = ("apply", "-auto-approve", "-input=false", "-target=module.test_events")
    changed = json.dumps({"create_registry": True, "events": {"Other": "{}"}})
    with (
        withdraw(client, PRODUCER_DEPLOYER),
        pytest.raises(StepFailedError) as refused,
    ):
        accounts.producer.run(*words, f"-var=test_events={changed}")
    told = " ".join(" ".join(refused.value.lines).split())
    assert "role/deploy" in told.replace("assumed-role", "role")
    assert f"is not authorized to perform: {WITHDRAWN} on resource" in told


def test_nothing_is_left_but_keys_that_wait_for_their_end(accounts, registry, client, before):
    registry.leave()
    accounts.destroy()

    for account in (PRODUCER, CONSUMER):
        assert list_everything(client, account) == before[account]
        assert list_usable_keys(client, account) == []


@pytest.mark.whole_room
def test_deployers_were_refused_nothing_and_used_all_that_was_seen_before(accounts):
    """The roots were applied, changed and destroyed by roles with the published policies."""
    used = read_used(accounts.producer.local)
    if REWRITING:
        write_seen(used)
    seen = read_seen()
    assert {kind: seen[kind] - used[kind] for kind in _APPLYING} == {
        kind: set() for kind in _APPLYING
    }


def _read_unpacked(path):
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())
