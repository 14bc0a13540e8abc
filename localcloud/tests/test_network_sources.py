"""Who comes from where: names, ports and groups that a path begins with, and ends at."""

from __future__ import annotations

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Source, find_path
from tests.account_ids import CONSUMER
from tests.dialling import greet
from tests.two_accounts import PORT
from tests.vpcs import make_vpc

ZONE = "sources.abc123.c1.kafka.eu-central-1.amazonaws.com"
BROKERS = 2


def test_a_port_without_a_listener_is_refused_by_its_number(accounts):
    with pytest.raises(MissingHopError, match=r"does not listen on 9098 .it does on 9096."):
        find_path(accounts.nodes, accounts.source, accounts.brokers[0].host, 9098)


def test_a_name_that_no_zone_knows(accounts):
    with pytest.raises(MissingHopError, match=f"has no record b-9.{ZONE}; add an alias"):
        find_path(accounts.nodes, accounts.source, f"b-9.{ZONE}", PORT)
    with pytest.raises(
        MissingHopError, match=r"no private zone of vpc-.* answers for b-1.other.net"
    ):
        find_path(accounts.nodes, accounts.source, "b-1.other.net", PORT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source("vpc-0"), "there is no VPC vpc-0 in any account"),
        (lambda a: Source(a.vpcs[CONSUMER], ("subnet-0",)), "has no subnet subnet-0"),
        (lambda a: Source(a.vpcs[CONSUMER], (), ("sg-0",)), "has no security group sg-0"),
    ],
)
def test_a_source_that_does_not_exist(accounts, network, source, expected):
    with pytest.raises(MissingHopError, match=expected):
        network.view(source(accounts) if callable(source) else source)


def test_a_member_of_another_group_is_rejected(accounts, network):
    other = accounts.ec2[CONSUMER].create_security_group(
        GroupName="other", Description="other", VpcId=accounts.vpcs[CONSUMER]
    )["GroupId"]
    source = Source(accounts.vpcs[CONSUMER], (), (other,))

    with pytest.raises(MissingHopError, match=f"let no TCP 9096 in from {other} of vpc-"):
        find_path(accounts.nodes, source, accounts.brokers[0].host, PORT)


def test_a_source_without_a_group_is_admitted_where_any_group_is(accounts):
    anyone = Source(accounts.vpcs[CONSUMER])

    assert find_path(accounts.nodes, anyone, accounts.brokers[0].host, PORT).port == PORT


def test_enforcement_on_private_link_can_be_turned_off(accounts, network):
    broker = accounts.brokers[0]
    accounts.allow("balancer", revoke=True)
    groups = {
        "LoadBalancerArn": broker.balancer,
        "SecurityGroups": [accounts.groups["balancer"]],
    }
    key = "EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic"

    accounts.elb.set_security_groups(**groups, **{key: "off"})

    assert greet(network, accounts.source, broker.host) == broker.host
    accounts.elb.set_security_groups(**groups, **{key: "on"})
    accounts.allow("balancer")


def test_in_their_own_vpc_brokers_are_reached_directly(accounts, network):
    broker = accounts.brokers[0]

    assert greet(network, accounts.source_at_home, broker.host) == broker.host

    accounts.allow("broker", revoke=True)
    with pytest.raises(
        MissingHopError, match=f"network interface {broker.interface} .* let no TCP"
    ):
        find_path(accounts.nodes, accounts.source_at_home, broker.host, PORT)
    accounts.allow("broker")


def test_a_vpc_without_the_zone_does_not_resolve_the_names(accounts, network, client):
    ec2 = client("ec2", CONSUMER)
    elsewhere = Source(make_vpc(ec2, "10.9.0.0/16"))

    assert network.view(elsewhere).addresses == {}
    with pytest.raises(MissingHopError, match="no private zone"):
        find_path(accounts.nodes, elsewhere, accounts.brokers[0].host, PORT)
