"""A client in the consumer's VPC reaches every broker, and none when any one hop is missing."""

from __future__ import annotations

import socket
import time
from contextlib import closing

import pytest

from localcloud.errors import MissingHopError
from localcloud.network import Source, find_path, load_network, trace
from tests.localcloud.two_accounts import CONSUMER, PORT, PRODUCER, TwoAccounts

ZONE = "paths.abc123.c1.kafka.eu-central-1.amazonaws.com"
# What is removed must be felt by then, live connections included.
CUT_SECONDS = 2.0


@pytest.fixture(scope="module")
def accounts(cloud, client):
    made = TwoAccounts(cloud, client, ZONE)
    yield made
    made.close()


@pytest.fixture(scope="module")
def network(cloud):
    return load_network(cloud)


def dial(network, source, host, port=PORT):
    """Connect as a process in the VPC would."""
    address = network.view(source).addresses[host]
    connection = socket.create_connection((address, port), timeout=CUT_SECONDS)
    return connection


def greet(network, source, host):
    with closing(dial(network, source, host)) as connection:
        return connection.makefile().readline().strip()


def wait_for_cut(connection):
    """Read until the connection ends; fails by time-out if it goes on."""
    connection.settimeout(CUT_SECONDS)
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        return


def test_every_broker_is_reached_by_its_own_name(accounts, network):
    for broker in accounts.brokers:
        assert greet(network, accounts.source, broker.host) == broker.host


def test_the_trace_lists_the_hops_in_order(accounts):
    broker = accounts.brokers[0]

    found = trace(accounts.nodes, accounts.source, broker.host, PORT)

    assert found.missing is None
    kinds = "private record endpoint endpoint load listener target target network server"
    assert [hop.partition(" ")[0] for hop in found.hops] == kinds.split()


def remove_record(accounts, broker):
    accounts.make_record(broker, "DELETE")
    yield f"private zone {accounts.zone} ({ZONE}) has no record {broker.host}"
    accounts.make_record(broker)


def remove_endpoint(accounts, broker):
    accounts.ec2[CONSUMER].delete_vpc_endpoints(VpcEndpointIds=[broker.endpoint])
    yield f"which is no interface endpoint of {accounts.vpcs[CONSUMER]}; make it an alias of one"
    accounts.make_record(broker, "DELETE")
    accounts.make_endpoint(broker)
    accounts.make_record(broker)


def reject_endpoint(accounts, broker):
    accounts.reject(broker)
    yield f"endpoint {broker.endpoint} is rejected, not available; the owner of"
    accounts.accept(broker)


def remove_principal(accounts, broker):
    principals = [f"arn:aws:iam::{CONSUMER}:root"]
    accounts.let_consumer(broker, RemoveAllowedPrincipals=principals)
    yield f"endpoint service {broker.service} does not allow account {CONSUMER} (it allows: nobody)"
    accounts.let_consumer(broker)


def remove_listener(accounts, broker):
    accounts.elb.delete_listener(ListenerArn=broker.listener)
    yield "load balancer paths-1 does not listen on 9096 (it does on no port); add a TCP listener"
    accounts.make_listener(broker)


def remove_target(accounts, broker):
    accounts.elb.deregister_targets(TargetGroupArn=broker.group, Targets=[{"Id": broker.ip}])
    yield "target group paths-1 has no target; register the broker's address"
    accounts.elb.register_targets(TargetGroupArn=broker.group, Targets=[{"Id": broker.ip}])


def swap_target(accounts, broker):
    other = [{"Id": accounts.brokers[1].ip}]
    accounts.elb.register_targets(TargetGroupArn=broker.group, Targets=other)
    yield f"is b-2.{ZONE}, whose certificate is not for {broker.host}"
    accounts.elb.deregister_targets(TargetGroupArn=broker.group, Targets=other)


def remove_server(accounts, broker):
    node = accounts.nodes.behind(broker.interface)
    accounts.nodes.unplug(broker.interface)
    yield f"no server is behind target {broker.ip}:9096 of target group paths-1"
    accounts.nodes.plug(node)


def remove_balancer_from_service(accounts, broker):
    change = accounts.ec2[PRODUCER].modify_vpc_endpoint_service_configuration
    change(ServiceId=broker.service, RemoveNetworkLoadBalancerArns=[broker.balancer])
    yield f"endpoint service {broker.service} has no network load balancer; give it one"
    change(ServiceId=broker.service, AddNetworkLoadBalancerArns=[broker.balancer])


def close_endpoint(accounts, broker):
    accounts.allow("endpoint", revoke=True)
    yield f"of endpoint {broker.endpoint} ({accounts.groups['endpoint']}) let no TCP 9096 in from"
    accounts.allow("endpoint")


def close_balancer(accounts, broker):
    accounts.allow("balancer", revoke=True)
    yield "security groups of load balancer paths-1"
    accounts.allow("balancer")


def close_broker(accounts, broker):
    accounts.allow("broker", revoke=True)
    yield f"security groups of network interface {broker.interface}"
    accounts.allow("broker")


def keep_client_in(accounts, broker):
    accounts.allow_out("client", revoke=True)
    yield f"let no TCP 9096 out to endpoint {broker.endpoint}; add an egress rule"
    accounts.allow_out("client")


def keep_balancer_in(accounts, broker):
    accounts.allow_out("balancer", revoke=True)
    yield f"let no TCP 9096 out to network interface {broker.interface}; add an egress rule"
    accounts.allow_out("balancer")


HOPS = [
    remove_record,
    remove_endpoint,
    reject_endpoint,
    remove_principal,
    remove_listener,
    remove_target,
    swap_target,
    remove_server,
    remove_balancer_from_service,
    close_endpoint,
    close_balancer,
    close_broker,
    keep_client_in,
    keep_balancer_in,
]


@pytest.mark.parametrize("break_hop", HOPS, ids=lambda function: function.__name__)
def test_without_a_hop_nothing_flows(accounts, network, break_hop):
    broker = accounts.brokers[0]
    live = dial(network, accounts.source, broker.host)
    assert live.makefile().readline().strip() == broker.host
    steps = break_hop(accounts, broker)

    expected = next(steps)

    started = time.monotonic()
    with closing(live):
        wait_for_cut(live)
    assert time.monotonic() - started < CUT_SECONDS
    with pytest.raises(MissingHopError) as refused:
        find_path(accounts.nodes, accounts.source, broker.host, PORT)
    assert expected in str(refused.value)
    assert trace(accounts.nodes, accounts.source, broker.host, PORT).missing == str(refused.value)
    with pytest.raises((OSError, KeyError)):  # no name, or no way behind it
        assert greet(network, accounts.source, broker.host) == "", "reached it nevertheless"

    assert next(steps, None) is None
    assert greet(network, accounts.source, broker.host) == broker.host


def test_the_other_brokers_go_on(accounts, network):
    broken, other = accounts.brokers
    live = dial(network, accounts.source, other.host)
    reader = live.makefile()
    assert reader.readline().strip() == other.host
    accounts.reject(broken)
    network.refresh()

    live.sendall(b"still here\n")

    assert reader.readline() == "still here\n"
    accounts.accept(broken)
    reader.close()
    live.close()


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


def test_someone_in_another_group_is_kept_out(accounts, network):
    other = accounts.ec2[CONSUMER].create_security_group(
        GroupName="other", Description="other", VpcId=accounts.vpcs[CONSUMER]
    )["GroupId"]
    source = Source(accounts.vpcs[CONSUMER], (), (other,))

    with pytest.raises(MissingHopError, match=f"let no TCP 9096 in from {other} of vpc-"):
        find_path(accounts.nodes, source, accounts.brokers[0].host, PORT)


def test_anyone_is_let_in_where_somebody_is(accounts):
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


def test_a_vpc_without_the_zone_does_not_know_the_names(accounts, network, client):
    ec2 = client("ec2", CONSUMER)
    elsewhere = Source(ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"])

    assert network.view(elsewhere).addresses == {}
    with pytest.raises(MissingHopError, match="no private zone"):
        find_path(accounts.nodes, elsewhere, accounts.brokers[0].host, PORT)
