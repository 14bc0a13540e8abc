"""A client in the consumer's VPC reaches every broker, and none when any one hop is missing."""

from __future__ import annotations

from contextlib import closing

import pytest
from botocore.exceptions import ClientError

from localcloud.errors import MissingHopError
from localcloud.network import find_path, trace
from tests.account_ids import CONSUMER, PRODUCER
from tests.dialling import dial, greet
from tests.refusing import rejected
from tests.two_accounts import PORT

ZONE = "paths.abc123.c1.kafka.eu-central-1.amazonaws.com"
# What is removed must be felt by then, live connections included.
CUT_SECONDS = 60.0  # it is felt at once, on a machine that has nothing else to do
BROKERS = 2


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
    with rejected(accounts, broker):
        yield f"endpoint {broker.endpoint} is rejected, not available; the owner of"


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

    with closing(live):
        wait_for_cut(live)
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
    with rejected(accounts, broken):
        network.refresh()
        live.sendall(b"still here\n")

        assert reader.readline() == "still here\n"
    reader.close()
    live.close()


def test_an_accepted_connection_outlives_its_principal(accounts, network):
    broker = accounts.brokers[0]
    live = dial(network, accounts.source, broker.host)
    reader = live.makefile()
    assert reader.readline().strip() == broker.host

    accounts.let_consumer(broker, RemoveAllowedPrincipals=[f"arn:aws:iam::{CONSUMER}:root"])

    network.refresh()
    live.sendall(b"still here\n")
    assert reader.readline() == "still here\n"
    assert greet(network, accounts.source, broker.host) == broker.host
    with pytest.raises(ClientError, match="InvalidServiceName"):
        accounts.make_endpoint(broker)
    accounts.let_consumer(broker)
    reader.close()
    live.close()
