"""How plan cases are compared: what is named must be so, and each difference is told."""

from __future__ import annotations

import json

import pytest

from tests.infra.comparison import find_differences, rewrite
from tests.infra.planned import UNKNOWN, Plan, read_plans
from tests.infra.policies import compare_policies, list_policies

_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"AWS": "arn:aws:iam::222222222222:root"},
            "Action": ["sts:TagSession", "sts:AssumeRole"],
            "Condition": {"StringEquals": {"sts:ExternalId": "e", "aws:PrincipalArn": ["b", "a"]}},
        },
        {
            "Effect": "Deny",
            "NotPrincipal": "*",
            "NotAction": "s3:*",
            "NotResource": "arn:aws:s3:::b",
        },
    ],
}
_PLAN = Plan(
    {
        "aws_iam_role.this": {"name": "reader", "assume_role_policy": json.dumps(_POLICY)},
        'aws_subnet.this["a"]': {"tags": [{"Name": "a"}], "id": UNKNOWN},
        "aws_iam_role_policy_attachment.this": {"role": "reader", "policy_arn": "arn:x"},
        "aws_kms_key.this": {"policy": UNKNOWN, "description": "no policy"},
    },
    {
        "aws_iam_role.this": "aws_iam_role",
        'aws_subnet.this["a"]': "aws_subnet",
        "aws_iam_role_policy_attachment.this": "aws_iam_role_policy_attachment",
        "aws_kms_key.this": "aws_kms_key",
    },
    {"name": "reader", "ids": {"a": UNKNOWN}},
)
_ERROR = "main.tf:2: Invalid value: name is X: give a. This was checked by the rule"
_FAILED = Plan({}, {}, {}, (_ERROR,))


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"values": {"aws_iam_role.this": {"name": "reader"}}},
        {"values": {"aws_iam_role.this": {"assume_role_policy": {"Version": "2012-10-17"}}}},
        {"values": {'aws_subnet.this["a"]': {"tags": [{}]}}},
        {"counts": {"aws_subnet": 1, "aws_vpc": 0}, "outputs": {"ids": {"a": UNKNOWN}}},
    ],
)
def test_unnamed_values_may_be_anything(expected):
    assert find_differences(expected, _PLAN) == []


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        (
            {"values": {"aws_iam_role.this": {"name": "writer"}}},
            "values: aws_iam_role.this: name\n  got      'reader'\n  expected 'writer'",
        ),
        (
            {"values": {"aws_vpc.this": {}}},
            "values: aws_vpc.this\n  got      '(absent)'\n  expected {}",
        ),
        ({"counts": {"aws_subnet": 2}}, "counts: aws_subnet\n  got      1\n  expected 2"),
        (
            {"values": {'aws_subnet.this["a"]': {"tags": []}}},
            "values: aws_subnet.this[\"a\"]: tags\n  got      [{'Name': 'a'}]\n  expected []",
        ),
        ({"outputs": {"name": 1}}, "outputs: name\n  got      'reader'\n  expected 1"),
        (
            {"outputs": {"name": [1]}},
            "outputs: name\n  got      'reader'\n  expected [1]",
        ),
        (
            {"errors": ["name is X"]},
            "errors\n  got      nothing like it\n  expected 'name is X'",
        ),
    ],
)
def test_a_difference_is_reported_with_its_place(expected, told):
    assert find_differences(expected, _PLAN) == [told]


def test_a_plan_that_fails_must_be_expected_to_with_each_of_its_errors():
    assert find_differences({"errors": ["name is X:\n  give a"]}, _FAILED) == []
    assert find_differences({"counts": {"aws_vpc": 1}}, _FAILED) == [
        f"errors\n  got      {_ERROR!r}\n  expected no such error"
    ]


def test_a_rewritten_case_names_what_it_named():
    expected = {
        "values": {"aws_iam_role.this": {"name": "x"}, "aws_vpc.gone": {"a": 1}},
        "counts": {"aws_vpc": 1, "aws_subnet": 3},
        "outputs": {"name": "x"},
        "errors": ["x"],
    }

    assert rewrite(expected, _PLAN) == {
        "values": {"aws_iam_role.this": {"name": "reader"}},
        "counts": {"aws_vpc": 0, "aws_subnet": 1},
        "outputs": {"name": "reader"},
    }
    assert rewrite({}, _PLAN)["counts"]["aws_kms_key"] == 1
    assert rewrite({}, _FAILED) == {"errors": ["name is X: give a."]}


def test_policies_are_shown_as_principals_and_actions():
    assert list_policies(_PLAN) == {
        "aws_iam_role.this": [
            {
                "who": ["AWS arn:aws:iam::222222222222:root"],
                "may": ["sts:AssumeRole", "sts:TagSession"],
                "when": ["StringEquals aws:PrincipalArn = a, b", "StringEquals sts:ExternalId = e"],
            },
            {"deny": {"who but": ["*"], "may all but": ["s3:*"], "on all but": ["arn:aws:s3:::b"]}},
        ],
        "aws_iam_role_policy_attachment.this": "reader has arn:x",
        "aws_kms_key.this": UNKNOWN,
    }


def test_a_policy_more_and_one_less_are_differences():
    told = compare_policies({"a": "x", "b": "same"}, {"b": "same", "c": "y"})

    assert told == [
        'a\n  got      "(absent)"\n  expected "x"',
        'c\n  got      "y"\n  expected "(absent)"',
    ]


def test_plans_are_read_by_case_without_data_and_without_what_aws_makes_up():
    def change(address, after, unknown, mode="managed"):
        kind = address.split(".")[-2]
        said = {"after": after, "after_unknown": unknown}
        return {"address": address, "mode": mode, "type": kind, "change": said}

    def written(*names):
        resource = {"address": "aws_vpc.this", "expressions": {key: {} for key in names}}
        inner = {"module": {"resources": [resource]}}
        return {"module": {"module_calls": {"this": {"module": {"module_calls": {"n": inner}}}}}}

    shown = {
        "resource_changes": [
            change('module.a.module.this.module.n["a"].aws_vpc.this[0]', {"cidr": 1}, {"id": True}),
            change(
                "module.a.module.this.module.n.aws_vpc.this", {"zones": ["a"]}, {"zones": [0, True]}
            ),
            change("module.a.module.this.module.n.aws_vpc.this[1]", {}, {"cidr": True}),
            change("module.a.module.this.data.aws_x.this", {}, {}, "data"),
            change("module.a.terraform_data.later", {}, {}),
            change("module.b.module.this.module.n.aws_vpc.this", {"cidr": 2}, {"zones": True}),
        ],
        "output_changes": {
            "a": {"after": {"name": "x"}, "after_unknown": {"id": True, "map": {"a": True}}},
            "b": {"after": {}, "after_unknown": {}},
        },
        "configuration": {
            "root_module": {"module_calls": {"a": written("cidr", "zones"), "b": written("cidr")}}
        },
    }

    assert read_plans(shown) == {
        "a": Plan(
            {
                'module.n["a"].aws_vpc.this[0]': {"cidr": 1},
                "module.n.aws_vpc.this": {"zones": ["a", UNKNOWN]},
                "module.n.aws_vpc.this[1]": {"cidr": UNKNOWN},
            },
            dict.fromkeys(
                [
                    'module.n["a"].aws_vpc.this[0]',
                    "module.n.aws_vpc.this",
                    "module.n.aws_vpc.this[1]",
                ],
                "aws_vpc",
            ),
            {"name": "x", "id": UNKNOWN, "map": {"a": UNKNOWN}},
        ),
        "b": Plan({"module.n.aws_vpc.this": {"cidr": 2}}, {"module.n.aws_vpc.this": "aws_vpc"}, {}),
    }
