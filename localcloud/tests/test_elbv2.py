"""Network load balancers: ARN, security groups, and the health of what is really there."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from tests.account_ids import PRODUCER

ZONE = "elbv2.abc123.c1.kafka.eu-central-1.amazonaws.com"
ENFORCE = "EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic"


def make_balancer(accounts, name, **settings):
    made = accounts.elb.create_load_balancer(
        Name=name, Subnets=accounts.subnets[PRODUCER], Scheme="internal", **settings
    )
    return made["LoadBalancers"][0]["LoadBalancerArn"]


def test_the_arn_names_the_kind(accounts):
    network = make_balancer(accounts, "one", Type="network")
    application = make_balancer(accounts, "two", Type="application")

    assert ":loadbalancer/net/one/" in network
    assert ":loadbalancer/app/two/" in application
    assert ":listener/net/elbv2-1/" in accounts.brokers[0].listener


def test_a_name_that_begins_with_internal_is_refused(accounts):
    with pytest.raises(ClientError, match="cannot begin with 'internal-'"):
        make_balancer(accounts, "internal-one", Type="network")


def test_a_load_balancer_needs_a_subnet(accounts):
    with pytest.raises(ClientError, match="SubnetNotFound"):
        accounts.elb.create_load_balancer(Name="lost", Type="network")


def test_enforcement_on_private_link_is_kept(accounts):
    balancer = accounts.brokers[0].balancer
    groups = [accounts.groups["balancer"]]

    answer = accounts.elb.set_security_groups(
        LoadBalancerArn=balancer, SecurityGroups=groups, **{ENFORCE: "off"}
    )

    assert (answer["SecurityGroupIds"], answer[ENFORCE]) == (groups, "off")
    found = accounts.elb.describe_load_balancers(LoadBalancerArns=[balancer])["LoadBalancers"][0]
    assert found[ENFORCE] == "off"
    accounts.elb.set_security_groups(LoadBalancerArn=balancer, SecurityGroups=groups)
    found = accounts.elb.describe_load_balancers(LoadBalancerArns=[balancer])["LoadBalancers"][0]
    assert found[ENFORCE] == "on"


def test_security_groups_cannot_come_later(accounts):
    balancer = make_balancer(accounts, "bare", Type="network")

    with pytest.raises(ClientError, match="it was created without") as refused:
        accounts.elb.set_security_groups(
            LoadBalancerArn=balancer, SecurityGroups=[accounts.groups["balancer"]]
        )

    assert refused.value.response["Error"]["Code"] == "InvalidConfigurationRequest"


def test_moto_answers_for_groups_of_other_load_balancers(accounts):
    balancer = make_balancer(accounts, "web", Type="application")
    groups = [accounts.groups["balancer"]]

    accounts.elb.set_security_groups(LoadBalancerArn=balancer, SecurityGroups=groups)

    found = accounts.elb.describe_load_balancers(LoadBalancerArns=[balancer])["LoadBalancers"][0]
    assert found["SecurityGroups"] == groups
    with pytest.raises(ClientError, match="LoadBalancerNotFound"):
        accounts.elb.set_security_groups(LoadBalancerArn="arn:none", SecurityGroups=groups)


def test_a_target_is_healthy_when_its_server_answers(accounts):
    broker = accounts.brokers[0]

    def health(**more):
        found = accounts.elb.describe_target_health(TargetGroupArn=broker.group, **more)
        return [
            (it["Target"]["Id"], it["TargetHealth"]["State"])
            for it in found["TargetHealthDescriptions"]
        ]

    assert health() == [(broker.ip, "healthy")]
    node = accounts.nodes.behind(broker.interface)
    accounts.nodes.unplug(broker.interface)
    assert health(Targets=[{"Id": broker.ip}]) == [(broker.ip, "unhealthy")]
    accounts.nodes.plug(node)
    assert health() == [(broker.ip, "healthy")]


def test_a_target_that_is_not_registered_is_not_healthy(accounts):
    found = accounts.elb.describe_target_health(
        TargetGroupArn=accounts.brokers[0].group, Targets=[{"Id": "10.0.9.9"}]
    )

    assert found["TargetHealthDescriptions"][0]["TargetHealth"]["State"] == "unavailable"
    with pytest.raises(ClientError, match="TargetGroupNotFound"):
        accounts.elb.describe_target_health(TargetGroupArn="arn:none")


def test_a_load_balancer_of_an_endpoint_service_stays(accounts):
    balancer = accounts.brokers[0].balancer
    said = "cannot be deleted because it is currently associated with another service"

    with pytest.raises(ClientError, match=rf"ResourceInUse.*'{balancer}' {said}"):
        accounts.elb.delete_load_balancer(LoadBalancerArn=balancer)

    free = make_balancer(accounts, "free", Type="network")
    accounts.elb.delete_load_balancer(LoadBalancerArn=free)
    accounts.elb.delete_load_balancer(LoadBalancerArn=free)  # again: it has been deleted
