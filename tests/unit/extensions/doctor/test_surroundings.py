"""The endpoints of AWS services in the consumer's VPC."""

from __future__ import annotations

import json

import pytest

from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from tests.stubs.worlds import AnsweringWorld

_C = Side.CONSUMER
_POLICY = json.dumps({"Statement": [{"Effect": "Allow", "Action": "*"}]})
_NETWORK = {
    "vpc_id": "vpc-1",
    "subnet_ids": ["subnet-1"],
    "interface_endpoints": ["sts"],
    "endpoint_policy": _POLICY,
}


def _deploy(network):
    return Deployment(
        {"exposure": "privatelink", "producer_account_id": "1", "region": "eu-central-1"},
        {_C: {"functions": {}, "platform": {"account_id": "2", "network": network}}},
    )


_DEPLOYMENT = _deploy(_NETWORK)
_TABLES = {
    "RouteTables": [{"RouteTableId": "rtb-1", "Associations": [{"SubnetId": "subnet-1"}]}],
}


def _interface(name, **changed):
    return {
        "VpcEndpointId": f"vpce-{name}",
        "VpcEndpointType": "Interface",
        "ServiceName": f"com.amazonaws.eu-central-1.{name}",
        "State": "available",
        "PrivateDnsEnabled": True,
        "PolicyDocument": _POLICY,
        "Groups": [],
    } | changed


def _gateway(name, **changed):
    kind = {"VpcEndpointType": "Gateway", "PrivateDnsEnabled": False, "RouteTableIds": ["rtb-1"]}
    return _interface(name, **(kind | changed))


def _look_at(hop, *endpoints, deployment=_DEPLOYMENT):
    answers = {
        (_C, "describe_vpc_endpoints"): {"VpcEndpoints": endpoints},
        (_C, "describe_route_tables"): _TABLES,
    }
    hops = [each for each in HOPS if each.name == hop]
    return examine(AnsweringWorld(deployment, answers), hops).findings


_NAMELESS = _interface("sts", PrivateDnsEnabled=False)
_ALL = [_gateway("s3"), _gateway("dynamodb")]


@pytest.mark.parametrize("endpoints", [[_NAMELESS], [_NAMELESS, _gateway("s3")]])
def test_an_endpoint_without_private_dns_is_a_first_cause(endpoints):
    (finding,) = _look_at("endpoints of AWS services", *endpoints)
    assert finding.cause == "service-endpoint-missing (sts)"
    assert finding.seen == "the endpoint of sts is without private DNS"
    assert finding.expected == "available, with private DNS"


def test_the_policies_of_an_existing_vpc_are_its_owners():
    policy = json.dumps({"Statement": [{"Effect": "Deny", "Action": "sts:TagSession"}]})
    deployment = _deploy(_NETWORK | {"endpoint_policy": None})
    sts = _interface("sts", PolicyDocument=policy)
    (finding,) = _look_at("endpoints of AWS services", sts, deployment=deployment)
    assert finding.state == "ok"


@pytest.mark.parametrize("step", [1, -1])
def test_of_several_endpoints_the_one_with_private_dns_counts(step):
    (finding,) = _look_at("endpoints of AWS services", *[_interface("sts"), _NAMELESS][::step])
    assert (finding.state, finding.seen) == ("ok", "1 endpoints of AWS services")


@pytest.mark.parametrize("step", [1, -1])
def test_an_interface_endpoint_beside_a_gateway_takes_no_route(step):
    (finding,) = _look_at("routes", *[*_ALL, _interface("s3")][::step])
    assert (finding.state, finding.seen) == ("ok", "routes to dynamodb and s3 from 1 subnets")


@pytest.mark.parametrize("step", [1, -1])
def test_an_endpoint_that_is_deleted_at_the_moment_does_not_count(step):
    gone = _gateway("s3", State="deleting", RouteTableIds=[])
    (finding,) = _look_at("routes", *[*_ALL, gone][::step])
    assert finding.state == "ok"
    (finding,) = _look_at("routes", _ALL[1], gone)
    assert (finding.cause, finding.seen) == ("route-missing (s3)", "no gateway endpoint of s3")
