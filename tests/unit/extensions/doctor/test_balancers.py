"""The load balancers in front of the brokers, and their targets."""

from __future__ import annotations

from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from tests.stubs.worlds import AnsweringWorld

_P = Side.PRODUCER
_CONTRACT = {
    "brokers": {"1": {"host": "b-1.example", "port": 9096, "service_id": "vpce-svc-1"}},
    "cluster": {"arn": "arn:aws:kafka:eu-central-1:111111111111:cluster/c/1", "name": "c"},
    "exposure": "privatelink",
    "producer_account_id": "111111111111",
    "region": "eu-central-1",
}
_BROKER = {"BrokerNodeInfo": {"BrokerId": 1.0, "ClientVpcIpAddress": "10.0.0.5"}}
_CONTROLLER = {"ControllerNodeInfo": {"Endpoints": ["c-10001.example"]}}
_ENFORCE = "EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic"
_BALANCER = {
    "LoadBalancerArn": "arn:b-1",
    "LoadBalancerName": "b-1",
    "State": {"Code": "active"},
    _ENFORCE: "off",
}
_LISTENER = {"Port": 9096, "DefaultActions": [{"TargetGroupArn": "arn:group"}]}
_TARGET = {"Target": {"Id": "10.0.0.5"}, "TargetHealth": {"State": "healthy"}}
_HEALTHY = {
    (_P, "describe_vpc_endpoint_service_configurations"): {
        "ServiceConfigurations": [
            {"ServiceId": "vpce-svc-1", "NetworkLoadBalancerArns": ["arn:b-1"]}
        ]
    },
    (_P, "describe_load_balancers"): {"LoadBalancers": [_BALANCER]},
    (_P, "describe_listeners"): {"Listeners": [_LISTENER]},
    (_P, "describe_target_health"): {"TargetHealthDescriptions": [_TARGET]},
    (_P, "list_nodes"): {"NodeInfoList": [_CONTROLLER, _BROKER]},
}


def _look_at(hop, **changed):
    answers = _HEALTHY | {(_P, operation): answer for operation, answer in changed.items()}
    hops = [each for each in HOPS if each.name == hop]
    return examine(AnsweringWorld(Deployment(_CONTRACT), answers), hops).findings


def test_a_load_balancer_that_lets_private_link_in_is_fine():
    (finding,) = _look_at("load balancers")
    assert (finding.state, finding.seen) == ("ok", "b-1: b-1 is active")


def test_a_load_balancer_that_applies_its_rules_to_private_link_is_a_first_cause():
    closed = {"LoadBalancers": [_BALANCER | {_ENFORCE: "on"}]}
    (finding,) = _look_at("load balancers", describe_load_balancers=closed)
    assert (finding.state, finding.cause) == ("broken", "balancer-closed (b-1)")
    assert finding.seen == "b-1 applies its security group's ingress rules to PrivateLink"
    assert finding.mend == "terraform -chdir=infra/producer apply"


def test_the_controllers_of_a_cluster_are_no_targets():
    (finding,) = _look_at("targets")
    assert (finding.state, finding.seen) == ("ok", "b-1: target 10.0.0.5 is healthy")
