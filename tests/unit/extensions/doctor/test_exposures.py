"""Brokers that are exposed by peering or by MSK's own connections, and the quota of interfaces."""

from __future__ import annotations

import pytest

from penstock.extensions.doctor.accounts import Accounts, World
from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from systems.sessions import make_session
from tests.stubs.worlds import AnsweringWorld

_P, _C = Side.PRODUCER, Side.CONSUMER
_HERE, _THERE = "10.1.0.0/16", "10.0.0.0/16"
_ARN = "arn:aws:kafka:eu-central-1:111111111111:cluster/c/1"
_CONTRACT = {
    "brokers": {"1": {"host": "b-1.example", "port": 9096}},
    "cluster": {"arn": _ARN, "name": "c"},
    "peering": {"cidr": _THERE, "vpc_id": "vpc-there"},
    "producer_account_id": "111111111111",
    "region": "eu-central-1",
}
_NETWORK = {"vpc_id": "vpc-here", "subnet_ids": ["subnet-1"]}
_OUTPUTS = {
    "functions": {"consumer": {"name": "f"}},
    "peering": {"cidr": _HERE, "connection_id": "pcx-1"},
    "platform": {"account_id": "222222222222", "network": _NETWORK},
}
_RULE = {"IpProtocol": "tcp", "FromPort": 9096, "ToPort": 9096}


def _group(name, way, **rule):
    group = {"GroupId": name, "VpcId": "vpc-here", "IpPermissions": [], "IpPermissionsEgress": []}
    return {"SecurityGroups": [group | {way: [_RULE | rule]}]}


def _table(subnet, cidr, peering="pcx-1", **changed):
    route = {"DestinationCidrBlock": cidr, "VpcPeeringConnectionId": peering} | changed
    return {"RouteTables": [{"Associations": [{"SubnetId": subnet}], "Routes": [route]}]}


def _peering(state, peering="pcx-1"):
    ends = {
        "RequesterVpcInfo": {"VpcId": "vpc-here", "CidrBlock": _HERE},
        "AccepterVpcInfo": {"VpcId": "vpc-there"},
    }
    one = {"VpcPeeringConnectionId": peering, "Status": {"Code": state}, **ends}
    return {"VpcPeeringConnections": [one]}


def _cluster(*, scram=True):
    sasl = {"ClientAuthentication": {"Sasl": {"Scram": {"Enabled": scram}}}}
    nodes = {
        "ClientSubnets": ["subnet-9"],
        "SecurityGroups": ["sg-brokers"],
        "ConnectivityInfo": {"VpcConnectivity": sasl},
    }
    return {"ClusterInfo": {"State": "ACTIVE", "Provisioned": {"BrokerNodeGroupInfo": nodes}}}


_FUNCTION = {"VpcConfig": {"SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-client"]}}
_HEALTHY = {
    "peering": {
        (_C, "describe_vpc_peering_connections"): _peering("active"),
        (_P, "describe_vpc_peering_connections"): _peering("active"),
        (_C, "describe_route_tables"): _table("subnet-1", _THERE),
        (_P, "describe_route_tables"): _table("subnet-9", _HERE),
        (_C, "get_function_configuration"): _FUNCTION,
        (_C, "describe_security_groups"): _group(
            "sg-client", "IpPermissionsEgress", IpRanges=[{"CidrIp": _THERE}]
        ),
        (_P, "describe_security_groups"): _group(
            "sg-brokers", "IpPermissions", IpRanges=[{"CidrIp": _HERE}]
        ),
        (_P, "describe_cluster_v2"): _cluster(),
    },
    "multi_vpc": {
        (_P, "describe_cluster_v2"): _cluster(),
        (_P, "get_cluster_policy"): {"Policy": '{"AWS": "arn:aws:iam::222222222222:root"}'},
        (_C, "list_vpc_connections"): {
            "VpcConnections": [
                {
                    "TargetClusterArn": _ARN,
                    "VpcId": "vpc-here",
                    "VpcConnectionArn": "arn/1",
                    "State": "AVAILABLE",
                }
            ]
        },
        (_C, "describe_vpc_connection"): {"SecurityGroups": ["sg-client"]},
        (_C, "get_function_configuration"): _FUNCTION,
        (_C, "describe_vpcs"): {"Vpcs": []},
        (_C, "describe_security_groups"): {
            "SecurityGroups": [
                {
                    "GroupId": "sg-client",
                    "VpcId": "vpc-here",
                    "IpPermissions": [_RULE | {"UserIdGroupPairs": [{"GroupId": "sg-client"}]}],
                    "IpPermissionsEgress": [
                        _RULE | {"UserIdGroupPairs": [{"GroupId": "sg-client"}]}
                    ],
                }
            ]
        },
    },
    "": {
        (_C, "describe_network_interfaces"): {"NetworkInterfaces": [1, 2]},
        (_C, "get_service_quota"): None,
        (_C, "get_aws_default_service_quota"): {"Quota": {"Value": 3.0}},
    },
}


def _examine(exposure, changed, outputs=_OUTPUTS):
    hops = [each for each in HOPS if each.exposure == exposure]
    if not exposure:
        hops = [each for each in hops if each.name == "interfaces of functions"]
    deployment = Deployment(_CONTRACT | {"exposure": exposure}, {_C: outputs})
    return examine(AnsweringWorld(deployment, _HEALTHY[exposure] | changed), hops)


@pytest.mark.parametrize(("exposure", "count"), [("peering", 5), ("multi_vpc", 3), ("", 1)])
def test_nothing_is_broken_where_all_is_as_it_should_be(exposure, count):
    report = _examine(exposure, {})
    assert [(each.hop, each.state) for each in report.findings if each.state != "ok"] == []
    assert len(report.findings) == count


@pytest.mark.parametrize(
    ("exposure", "side", "operation", "answer", "cause"),
    [
        ("peering", _C, "describe_vpc_peering_connections", _peering("deleted"),
         ["peering-not-active (pcx-1)"]),
        ("peering", _C, "describe_vpc_peering_connections", {"VpcPeeringConnections": []},
         ["peering-not-active (pcx-1)"]),
        ("peering", _C, "describe_route_tables", _table("subnet-1", _THERE, "pcx-2"),
         [f"peering-route-missing ({_THERE})"]),
        ("peering", _C, "describe_route_tables", _table("subnet-1", _THERE, State="blackhole"),
         [f"peering-route-missing ({_THERE})"]),
        ("peering", _P, "describe_route_tables", _table("subnet-9", _THERE),
         [f"peering-route-missing ({_HERE})"]),
        ("peering", _C, "describe_security_groups",
         _group("sg-client", "IpPermissionsEgress", IpRanges=[{"CidrIp": _HERE}]),
         ["client-egress-missing (consumer)"]),
        ("peering", _P, "describe_security_groups",
         _group("sg-brokers", "IpPermissions", IpRanges=[{"CidrIp": "10.1.0.0/24"}]),
         ["broker-ingress-missing (brokers)"]),
        ("multi_vpc", _P, "describe_cluster_v2", _cluster(scram=False), ["multi-vpc-off (c)"]),
        ("multi_vpc", _P, "get_cluster_policy", None, ["cluster-policy-missing (c)"]),
        ("multi_vpc", _P, "get_cluster_policy", {"Policy": "{}"}, ["cluster-policy-missing (c)"]),
        ("multi_vpc", _C, "list_vpc_connections", {"VpcConnections": []},
         ["vpc-connection-not-available (c)"]),
        ("multi_vpc", _C, "describe_security_groups",
         _group("sg-client", "IpPermissionsEgress", UserIdGroupPairs=[{"GroupId": "sg-client"}]),
         ["endpoint-ingress-missing (consumer)"]),
        ("", _C, "describe_network_interfaces", {"NetworkInterfaces": [1, 2, 3]},
         ["interfaces-full (vpc-here)"]),
        ("", _C, "get_service_quota", {"Quota": {"Value": 2.0}}, ["interfaces-full (vpc-here)"]),
    ],
)  # fmt: skip
def test_each_break_is_the_first_cause(exposure, side, operation, answer, cause):
    report = _examine(exposure, {(side, operation): answer})
    assert [each.cause for each in report.causes] == cause


def test_a_connection_that_waits_is_accepted_by_the_producer():
    waiting = {
        (side, "describe_vpc_peering_connections"): _peering("pending-acceptance") for side in Side
    }
    nothing = {"RouteTables": []}
    report = _examine("peering", waiting | {(_C, "describe_route_tables"): nothing})
    (cause,) = report.causes
    assert (cause.code, cause.mend) == (
        "peering-not-active", "terraform -chdir=infra/producer apply"
    )  # fmt: skip
    follows = [each for each in report.findings if each.state == "follows"]
    assert [each.code for each in follows] == ["peering-route-missing"]


def test_a_quota_that_nobody_tells_is_not_seen():
    (finding,) = _examine("", {(_C, "get_aws_default_service_quota"): None}).findings
    assert finding.state == "not seen"
    assert finding.seen == "Service Quotas does not tell the quota L-9FEE3D26 of lambda"


def test_a_new_account_has_the_quota_that_aws_publishes(cloud):
    accounts = Accounts({_C: make_session("777777777777")}, endpoint=cloud.endpoint)
    world = World(Deployment(_CONTRACT | {"exposure": "peering"}, {_C: _OUTPUTS}), accounts)
    hops = [each for each in HOPS if each.name == "interfaces of functions"]
    (finding,) = examine(world, hops).findings
    assert finding.seen == "0 of 250 network interfaces of functions in vpc-here"


def test_several_connections_to_the_brokers_are_told_apart_by_the_consumers_root():
    both = {"VpcPeeringConnections": 2 * _peering("active")["VpcPeeringConnections"]}
    report = _examine("peering", {(_P, "describe_vpc_peering_connections"): both})
    said = {each.seen for each in report.not_seen}
    assert said == {"2 peering connections lead to the brokers; name --consumer"}


_GONE = ["deleted", "deleting", "rejected", "failed", "expired"]


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("gone", _GONE)
def test_a_connection_that_is_gone_does_not_count_beside_another_one(gone, step):
    both = [*_peering(gone, "pcx-0")["VpcPeeringConnections"],
            *_peering("active")["VpcPeeringConnections"]][::step]  # fmt: skip
    answers = {
        (side, "describe_vpc_peering_connections"): {"VpcPeeringConnections": both} for side in Side
    }
    outputs = {name: each for name, each in _OUTPUTS.items() if name != "peering"}
    report = _examine("peering", answers, outputs)
    assert {each.state for each in report.findings} == {"ok"}


@pytest.mark.parametrize("gone", _GONE)
def test_a_connection_that_is_gone_is_named_if_there_is_no_other_one(gone):
    outputs = {name: each for name, each in _OUTPUTS.items() if name != "peering"}
    answers = {(side, "describe_vpc_peering_connections"): _peering(gone) for side in Side}
    (cause,) = _examine("peering", answers, outputs).causes
    assert (cause.cause, cause.seen) == ("peering-not-active (pcx-1)", f"the connection is {gone}")
