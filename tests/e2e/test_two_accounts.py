"""The story of two accounts: applied, used, changed piece by piece, and destroyed.

The tests run in the order of the file: each builds on what the ones before it have made.
"""

from __future__ import annotations

import base64
import zipfile
from pathlib import Path

import pytest

from penstock.framing import decode_frame
from tests.e2e.accounts import CONSUMER, OTHER, PRODUCER, changed
from tests.e2e.conftest import CANARY
from tests.e2e.leftovers import list_everything, list_usable_keys
from tests.fixtures.functions import wait_until

# Terraform's provider waits a minute for each load balancer and up to that for each record.
pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(600)]

_READER = {"name": "analytics", "account_id": CONSUMER, "topics": ["sensor"]}


def test_nothing_is_left_to_do(accounts):
    assert accounts.list_unfinished() == []


def test_the_plan_refuses_what_is_fixed_for_life(accounts):
    """Other zones would be another cluster, another name another registry."""
    zones = ["euc1-az1", "euc1-az2", "euc1-az3"]

    cluster, registry = sorted(
        accounts.producer.try_plan(
            cluster={"broker_count": 3, "volume_gib": 10},
            network={"cidr": "10.0.0.0/16", "zone_ids": zones},
            schemas={"registry": "events"},
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
    assert frame.schema_id == answer["schema"]["id"]
    row = accounts.await_row("analytics", answer)
    assert (row["deviceId"], row["temperature"]) == ("000001", 30)


def test_no_password_is_in_what_terraform_keeps_and_says(accounts):
    analytics = accounts.consumers["analytics"]
    assert CANARY in accounts.password_of(analytics)

    for root in (analytics, accounts.producer):
        kept = [path for path in root.infra.rglob("*") if ".terraform" not in path.parts]
        assert {"said", "plan", "terraform.tfstate"} <= {path.name for path in kept}
        for path in filter(Path.is_file, kept):
            assert CANARY.encode() not in _read_unpacked(path), path
        assert CANARY not in str(root.environ)
    assert CANARY not in (accounts.cloud.folder / "calls.jsonl").read_text()


def test_a_new_topic_is_closed_until_its_list_is_there(accounts):
    topics = {"sensor": {}, "orders": {"partitions": 1}}
    accounts.producer.apply(topics=topics)
    assert "orders is not authorized" in accounts.read_in_vain("analytics", "orders")

    accounts.producer.apply(consumers=[_READER | {"topics": ["sensor", "orders"]}])
    accounts.write("orders", b"one")
    (record,) = accounts.read("analytics", "orders", 1)
    assert base64.b64decode(record["value"]) == b"one"

    accounts.producer.apply(consumers=[_READER])
    assert "orders is not authorized" in accounts.read_in_vain("analytics", "orders")


def test_a_rotation_reaches_the_consumer(accounts, set_password):
    analytics = accounts.consumers["analytics"]
    before = accounts.password_of(analytics)
    set_password("Another-password-that-nobody-may-see")
    accounts.producer.apply(consumers=[_READER | {"rotation": 2}])
    wait_until("the old password is refused", lambda: _is_refused(accounts, "analytics"), 90)

    accounts.hand_over("analytics")
    analytics.apply()
    assert accounts.password_of(analytics) != before
    accounts.read("analytics", "sensor", 1)
    answer = accounts.produce({"temperature": 31})
    assert not answer["schema"]["created"]
    accounts.await_row("analytics", answer)
    assert not analytics.has_changes()


def test_a_change_of_the_cluster_touches_no_target(accounts):
    properties = {"message.max.bytes": "2000000"}
    cluster = accounts.producer.variables["cluster"] | {"properties": properties}
    plan = accounts.producer.plan(cluster=cluster)
    assert changed(plan, "aws_msk_configuration") == [("update",)]
    assert changed(plan, "aws_lb_target_group_attachment") == []

    accounts.producer.apply(cluster=cluster)
    assert not accounts.producer.has_changes()
    accounts.read("analytics", "sensor", 2)


def test_brokers_and_a_consumer_are_added(accounts):
    """Both at once: their load balancers and zones wait beside each other."""
    cluster = accounts.producer.variables["cluster"] | {"broker_count": 4}
    other = {"name": "billing", "account_id": OTHER, "topics": ["sensor"]}
    consumers = [_READER | {"rotation": 2}, other]
    plan = accounts.producer.plan(cluster=cluster, consumers=consumers)
    assert changed(plan, "aws_lb_target_group_attachment") == [("create",)] * 2
    assert changed(plan, "aws_lb") == [("create",)] * 2

    accounts.producer.apply(cluster=cluster, consumers=consumers)
    accounts.hand_over("analytics")
    analytics = accounts.consumers["analytics"].plan()
    assert changed(analytics, "aws_route53_record") == [("create",)] * 2
    assert changed(analytics, "aws_lambda_event_source_mapping") == []
    accounts.apply_consumers({"analytics": CONSUMER, "billing": OTHER})
    assert len(accounts.producer.outputs()["contracts"]["analytics"]["brokers"]) == 4
    assert accounts.list_unfinished() == []
    known = accounts.rows("analytics")
    for name in ("analytics", "billing"):
        accounts.read(name, "sensor", 2)
        wait_until("all rows are there", lambda name=name: accounts.rows(name) == known, 60)


def test_nothing_is_left_but_keys_that_wait_for_their_end(accounts, client, before):
    accounts.destroy_consumers()
    accounts.producer.destroy()

    for account in (PRODUCER, CONSUMER, OTHER):
        assert list_everything(client, account) == before[account]
        assert list_usable_keys(client, account) == []


def _is_refused(accounts, name):
    """Whether a client is told so: kafka-python misses most such answers (docs/gotchas-maintainers.md)."""
    return "SaslAuthenticationFailed" in accounts.read_in_vain(name, "sensor")


def _read_unpacked(path):
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())
