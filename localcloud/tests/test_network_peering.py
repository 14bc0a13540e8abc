"""A client in a peered VPC reaches a broker by its address, not when a hop is missing."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.errors import MissingHopError
from localcloud.network import Source, find_path, trace
from tests.account_ids import CONSUMER, PRODUCER
from tests.dialling import greet
from tests.peered_vpcs import PeeredVpcs
from tests.two_accounts import PORT
from tests.vpcs import make_vpc

ZONE = "peered.abc123.c1.kafka.eu-central-1.amazonaws.com"


@pytest.fixture(scope="module")
def peered(accounts, client):
    """A VPC more of the consumer, with a peering connection in place of endpoints and a zone."""
    group = accounts.groups["broker"]
    return PeeredVpcs(client, (accounts.vpcs[PRODUCER], accounts.subnets[PRODUCER], group))


def test_a_broker_is_reached_by_its_own_name(accounts, peered, network):
    (broker,) = accounts.brokers

    assert greet(network, peered.source, broker.host) == broker.host
    kinds = [hop.split(" ")[0] for hop in trace_to(accounts, peered.source).hops]
    assert kinds == ["peering", "route", "network", "server"]


def test_anyone_in_the_peered_vpc_is_traced_too(accounts, peered):
    assert trace_to(accounts, Source(peered.vpcs[CONSUMER])).missing is None


def trace_to(accounts, source):
    (broker,) = accounts.brokers
    return trace(accounts.nodes, source, broker.host, PORT)


def remove_route(peered):
    peered.unroute(CONSUMER)
    yield f"route table {peered.tables[CONSUMER]} of {peered.vpcs[CONSUMER]} has no route to 10.0."
    peered.route(CONSUMER)


def remove_route_back(peered):
    peered.unroute(PRODUCER)
    yield f"route table {peered.tables[PRODUCER]} of {peered.vpcs[PRODUCER]} has no route to"
    peered.route(PRODUCER)


def narrow_route(peered):
    """A route that is more specific decides, though it leads nowhere."""
    ec2 = peered.ec2[CONSUMER]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    narrow = {"RouteTableId": peered.tables[CONSUMER], "DestinationCidrBlock": "10.0.0.0/17"}
    ec2.create_route(**narrow, GatewayId=gateway)
    yield "the route 10.0.0.0/17 of route table"
    ec2.delete_route(**narrow)


def keep_out(peered):
    peered.keep_out()
    yield f"({peered.servers}) let no TCP 9096 in from {peered.client} of {peered.vpcs[CONSUMER]}"
    peered.let_in()


def let_others_in(peered):
    peered.keep_out()
    peered.let_in("10.9.2.0/24")
    yield f"({peered.servers}) let no TCP 9096 in from"
    peered.keep_out("10.9.2.0/24")
    peered.let_in()


def keep_client_in(peered):
    ec2, rule = peered.ec2[CONSUMER], {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    ec2.revoke_security_group_egress(GroupId=peered.client, IpPermissions=[rule])
    yield f"({peered.client}) let no TCP 9096 out to network interface"
    ec2.authorize_security_group_egress(GroupId=peered.client, IpPermissions=[rule])


HOPS = [
    remove_route,
    remove_route_back,
    narrow_route,
    keep_out,
    let_others_in,
    keep_client_in,
]


@pytest.mark.parametrize("break_hop", HOPS, ids=lambda function: function.__name__)
def test_without_a_hop_nothing_flows(accounts, peered, network, break_hop):
    (broker,) = accounts.brokers
    steps = break_hop(peered)

    expected = next(steps)

    with pytest.raises(MissingHopError) as refused:
        find_path(accounts.nodes, peered.source, broker.host, PORT)
    assert expected in str(refused.value)
    with pytest.raises(OSError):
        assert greet(network, peered.source, broker.host) == "", "reached it nevertheless"
    assert next(steps, None) is None
    assert greet(network, peered.source, broker.host) == broker.host


def test_until_it_is_accepted_the_routes_are_blackholes(accounts, peered):
    peered.delete(CONSUMER)
    assert peered.describe(PRODUCER)["Status"]["Code"] == "deleted"
    assert (
        f"{peered.connection} is deleted, not active" in trace_to(accounts, peered.source).missing
    )
    peered.connection = peered.ask()["VpcPeeringConnectionId"]
    for account in (CONSUMER, PRODUCER):
        peered.unroute(account)
        peered.route(account)

    missing = trace_to(accounts, peered.source).missing

    assert f"{peered.connection} is pending-acceptance, not active; the owner" in missing
    peered.accept()
    assert trace_to(accounts, peered.source).missing is None


def test_only_the_owner_of_the_other_vpc_accepts(client, peered):
    mine = make_vpc(client("ec2", CONSUMER), "10.20.0.0/16")
    made = client("ec2", CONSUMER).create_vpc_peering_connection(
        VpcId=mine, PeerVpcId=peered.vpcs[PRODUCER], PeerOwnerId=PRODUCER
    )["VpcPeeringConnection"]["VpcPeeringConnectionId"]

    with pytest.raises(ClientError, match="OperationNotPermitted"):
        client("ec2", CONSUMER).accept_vpc_peering_connection(VpcPeeringConnectionId=made)


def test_each_owner_has_tags_of_its_own(peered):
    for account in (CONSUMER, PRODUCER):
        peered.ec2[account].create_tags(
            Resources=[peered.connection], Tags=[{"Key": "owner", "Value": account}]
        )

    for account in (CONSUMER, PRODUCER):
        assert peered.describe(account)["Tags"] == [{"Key": "owner", "Value": account}]


def test_two_vpcs_have_one_connection(peered):
    with pytest.raises(ClientError, match="VpcPeeringConnectionAlreadyExists"):
        peered.ask()


def test_overlapping_ranges_cannot_be_peered(client, peered):
    ec2 = client("ec2", CONSUMER)
    mine = make_vpc(ec2, "10.0.128.0/17")

    made = ec2.create_vpc_peering_connection(
        VpcId=mine, PeerVpcId=peered.vpcs[PRODUCER], PeerOwnerId=PRODUCER
    )["VpcPeeringConnection"]["VpcPeeringConnectionId"]

    (found,) = ec2.describe_vpc_peering_connections(VpcPeeringConnectionIds=[made])[
        "VpcPeeringConnections"
    ]
    assert found["Status"]["Code"] == "failed"
    assert "overlapping CIDR range" in found["Status"]["Message"]


def test_another_region_is_refused(client, peered):
    with pytest.raises(ClientError, match="localcloud peers VPCs of one region only"):
        client("ec2", CONSUMER).create_vpc_peering_connection(
            VpcId=peered.vpcs[CONSUMER],
            PeerVpcId=peered.vpcs[PRODUCER],
            PeerOwnerId=PRODUCER,
            PeerRegion="eu-west-1",
        )
