"""Brokers are added to a cluster that both accounts use."""

from __future__ import annotations

import pytest

from tests.e2e.accounts import without_creations

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.kafka,
    pytest.mark.e2e,
    pytest.mark.nightly,
    pytest.mark.timeout(3_600),
]


def test_a_consumer_gets_a_way_to_each_broker_that_is_added(accounts):
    producer, analytics = accounts.producer, accounts.consumers["analytics"]
    cluster = producer.variables["cluster"] | {"broker_count": 4}

    changes = producer.apply(refresh=False, cluster=cluster)
    assert changes["aws_lb", "create"] == changes["aws_lb_target_group_attachment", "create"] == 2
    assert without_creations(changes) == {
        ("aws_cloudwatch_dashboard", "update"): 1,
        ("aws_iam_role_policy", "update"): 1,  # what names the brokers is not known before
        ("aws_lambda_function", "update"): 2,
        ("aws_msk_cluster", "update"): 1,
        ("aws_ssm_parameter", "update"): 1,  # the brokers of its job
    }

    accounts.hand_over("analytics")
    assert len(producer.outputs()["contracts"]["analytics"]["brokers"]) == 4
    changes = analytics.apply(refresh=False)
    assert changes["aws_route53_record", "create"] == 2
    assert {action for _, action in changes} == {"create", "update"}
    assert accounts.list_unfinished() == []
    answer = accounts.produce({"temperature": 33})
    accounts.read("analytics", "sensor", 1)
    assert accounts.await_row("analytics", answer)["temperature"] == 33
