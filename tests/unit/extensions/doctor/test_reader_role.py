"""The role that the consumer's programs read schemas by: whom its trust policy names."""

from __future__ import annotations

import pytest

from penstock.extensions.doctor.deployment import Deployment
from penstock.extensions.doctor.findings import Side
from penstock.extensions.doctor.hops import HOPS
from penstock.extensions.doctor.operation import examine
from tests.stubs.worlds import AnsweringWorld

_P, _C = Side.PRODUCER, Side.CONSUMER
_DEPLOYMENT = Deployment(
    {
        "exposure": "peering",
        "producer_account_id": "111111111111",
        "region": "eu-central-1",
        "registry": {"role_arn": "arn:aws:iam::111111111111:role/reads", "external_id": "x"},
    },
    {_C: {"functions": {}, "platform": {"account_id": "222222222222"}}},
)


@pytest.mark.parametrize(
    ("principal", "state"),
    [
        ("*", "ok"),
        ({"AWS": "*"}, "ok"),
        ({"AWS": ["arn:aws:iam::222222222222:root"]}, "ok"),
        ({"AWS": "222222222222"}, "ok"),
        ({"AWS": "333333333333"}, "broken"),
        ({"Service": "lambda.amazonaws.com"}, "broken"),
    ],
)
def test_the_role_trusts_everybody_or_the_consumer(principal, state):
    trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}
    reads = {"Effect": "Allow", "Action": "glue:GetSchemaVersion", "Resource": "*"}
    answers = {
        (_P, "get_role"): {"Role": {"AssumeRolePolicyDocument": {"Statement": [trust]}}},
        (_P, "list_role_policies"): {"PolicyNames": ["reads"]},
        (_P, "get_role_policy"): {"PolicyDocument": {"Statement": [reads]}},
    }
    hops = [each for each in HOPS if each.name == "reader role"]
    (finding,) = examine(AnsweringWorld(_DEPLOYMENT, answers), hops).findings
    assert finding.state == state
    assert finding.code == ("" if state == "ok" else "reader-role-distrusts")
