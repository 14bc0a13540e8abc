"""A rejected, failed or expired endpoint to the brokers is ignored beside an available one."""

from __future__ import annotations

import pytest

from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from tests.stubs.worlds import AnsweringWorld

_P, _C = Side.PRODUCER, Side.CONSUMER
_ARN = "arn:aws:kafka:eu-central-1:111111111111:cluster/c/1"
_CONTRACT = {
    "brokers": {"1": {"service_id": "vpce-svc-1", "service_name": "service-1"}},
    "cluster": {"arn": _ARN, "name": "c"},
    "producer_account_id": "111111111111",
    "region": "eu-central-1",
}
_OUTPUTS = {"platform": {"account_id": "222222222222", "network": {"vpc_id": "vpc-1"}}}


def _look_at(hop, exposure, answers):
    hops = [each for each in HOPS if each.name == hop and each.exposure == exposure]
    deployment = Deployment(_CONTRACT | {"exposure": exposure}, {_C: _OUTPUTS})
    return examine(AnsweringWorld(deployment, answers), hops).findings


def _endpoint(name, state):
    return {"VpcEndpointId": name, "VpcId": "vpc-1", "State": state}


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("state", ["pendingAcceptance", "rejected", "failed", "expired"])
def test_an_endpoint_that_is_available_is_looked_at_first(state, step):
    both = [_endpoint("vpce-0", state), _endpoint("vpce-1", "available")][::step]
    answers = {(_C, "describe_vpc_endpoints"): {"VpcEndpoints": both}}
    (finding,) = _look_at("endpoints", "privatelink", answers)
    assert (finding.state, finding.seen) == ("ok", "b-1: vpce-1 is available")


@pytest.mark.parametrize("state", ["rejected", "failed", "expired"])
def test_an_endpoint_that_is_over_is_named_if_there_is_no_other_one(state):
    alone = {"VpcEndpoints": [_endpoint("vpce-0", state), _endpoint("vpce-1", "deleted")]}
    (finding,) = _look_at("endpoints", "privatelink", {(_C, "describe_vpc_endpoints"): alone})
    assert finding.cause == "endpoint-not-available (b-1)"
    assert finding.seen == f"endpoint vpce-0 is {state}"


def _accept(*states):
    found = [
        {
            "ServiceId": "vpce-svc-1",
            "VpcEndpointId": f"vpce-{number}",
            "VpcEndpointOwner": "222222222222",
            "VpcEndpointState": state,
        }
        for number, state in enumerate(states)
    ]
    answers = {(_P, "describe_vpc_endpoint_connections"): {"VpcEndpointConnections": found}}
    return _look_at("acceptance", "privatelink", answers)


@pytest.mark.parametrize("step", [1, -1])
def test_an_endpoint_that_the_producer_rejected_is_no_cause_beside_an_accepted_one(step):
    (finding,) = _accept(*["rejected", "available"][::step])
    assert (finding.state, finding.seen) == ("ok", "1 endpoints accepted")


@pytest.mark.parametrize(
    "states", [("rejected",), ("rejected", "deleted"), ("pendingAcceptance", "available")]
)
def test_an_endpoint_that_the_producer_did_not_accept_is_a_cause(states):
    (finding,) = _accept(*states)
    assert finding.cause == "endpoint-not-accepted (b-1)"
    assert finding.seen == f"endpoint vpce-0 is {states[0]}"


def _connection(number, state):
    arn = f"arn:aws:kafka:eu-central-1:222222222222:vpc-connection/{number}"
    asked = {"TargetClusterArn": _ARN, "VpcId": "vpc-1"}
    return asked | {"VpcConnectionArn": arn, "State": state}


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("state", ["REJECTED", "INACTIVE", "FAILED", "DELETING", "CREATING"])
def test_a_connection_that_is_available_counts_before_another_one(state, step):
    both = [_connection(0, state), _connection(1, "AVAILABLE")][::step]
    answers = {(_C, "list_vpc_connections"): {"VpcConnections": both}}
    (finding,) = _look_at("VPC connection", "multi_vpc", answers)
    assert (finding.state, finding.seen) == ("ok", "1 is available")
