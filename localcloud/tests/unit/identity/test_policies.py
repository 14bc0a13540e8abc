"""What policies say: allow, deny, exceptions, wildcards, principals."""

from __future__ import annotations

import json

import pytest

from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_identity,
    judge_resource,
    read_statements,
)

_TABLE = "arn:aws:dynamodb:eu-central-1:111111111111:table/readings"
_ROLE = "arn:aws:iam::222222222222:role/app"
_APP = Principal("222222222222", _ROLE, "arn:aws:sts::222222222222:assumed-role/app/s1")


def _statement(**members):
    return {"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*", **members}


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        (_statement(), Verdict.ALLOWED),
        (_statement(Action="*"), Verdict.ALLOWED),
        (_statement(Action=["s3:*", "DynamoDB:get*"]), Verdict.ALLOWED),
        (_statement(Action="dynamodb:Put*"), Verdict.SILENT),
        (_statement(Resource=_TABLE), Verdict.ALLOWED),
        (_statement(Resource=["x", f"{_TABLE[:-2]}*"]), Verdict.ALLOWED),
        (_statement(Resource="arn:aws:dynamodb:*:*:table/reading?"), Verdict.ALLOWED),
        (_statement(Resource=f"{_TABLE}/index/*"), Verdict.SILENT),
        (_statement(Resource="arn:aws:dynamodb*"), Verdict.ALLOWED),
        (_statement(Resource="arn:aws:dynamodb:*:${aws:PrincipalAccount}:*"), Verdict.ALLOWED),
        (_statement(Resource="arn:aws:dynamodb:*:${aws:nobody}:*"), Verdict.SILENT),
        (_statement(Condition={"StringEquals": {"aws:PrincipalAccount": "1"}}), Verdict.SILENT),
        (_statement(Effect="Deny"), Verdict.DENIED),
    ],
)
def test_a_statement_about_reading_a_table(statement, verdict):
    request = Request("dynamodb:GetItem", _TABLE, {"aws:PrincipalAccount": "111111111111"})
    assert judge_identity([statement], request) is verdict


@pytest.mark.parametrize("exception", ["NotAction", "NotResource"])
def test_an_excepted_resource_is_not_covered(exception):
    statement = _statement()
    del statement[exception.removeprefix("Not")]
    mine = {"NotAction": "dynamodb:DeleteTable", "NotResource": f"{_TABLE}/*"}[exception]
    statement[exception] = mine
    excepted = Request("dynamodb:DeleteTable", f"{_TABLE}/stream/1")
    assert judge_identity([statement], Request("dynamodb:GetItem", _TABLE)) is Verdict.ALLOWED
    assert judge_identity([statement], excepted) is Verdict.SILENT


def test_one_deny_outweighs_every_allow():
    deny = _statement(Effect="Deny", Action="dynamodb:GetItem")
    request = Request("dynamodb:GetItem", _TABLE)
    assert judge_identity([_statement(), deny, _statement()], request) is Verdict.DENIED


def test_only_the_action_is_judged_for_an_unknown_resource():
    unknown = Request("ec2:DescribeVpcs", None)
    assert judge_identity([_statement(Action="ec2:*", Resource="x")], unknown) is Verdict.ALLOWED
    some = _statement(Effect="Deny", Action="ec2:*", Resource="x")
    assert judge_identity([some], unknown) is Verdict.SILENT
    for every in ({"Resource": "*"}, {"Resource": ["x", "*"]}, {"NotResource": "x"}):
        deny = {"Effect": "Deny", "Action": "ec2:*", **every}
        assert judge_identity([deny], unknown) is Verdict.DENIED


@pytest.mark.parametrize(
    ("principal", "verdict"),
    [
        ("*", Verdict.ALLOWED),
        ({"AWS": "*"}, Verdict.ALLOWED),
        ({"AWS": _ROLE}, Verdict.ROLE),
        ({"AWS": [_APP.session_arn, "x"]}, Verdict.ALLOWED),
        ({"AWS": "222222222222"}, Verdict.ACCOUNT),
        ({"AWS": "arn:aws:iam::222222222222:root"}, Verdict.ACCOUNT),
        ({"AWS": "arn:aws:iam::222222222222:role/other"}, Verdict.SILENT),
        ({"AWS": "111111111111"}, Verdict.SILENT),
        ({"Service": "lambda.amazonaws.com"}, Verdict.SILENT),
    ],
)
def test_a_resource_policy_names_who(principal, verdict):
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    assert judge_resource([statement], Request("sts:AssumeRole", "r"), _APP) is verdict


def test_a_service_is_named_as_such():
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": ["lambda.amazonaws.com"]},
        "Action": "sts:AssumeRole",
    }
    request = Request("sts:AssumeRole", "r")
    verdicts = [
        judge_resource([statement], request, Principal("1", "", service=service))
        for service in ("lambda.amazonaws.com", "ec2.amazonaws.com")
    ]
    assert verdicts == [Verdict.ALLOWED, Verdict.SILENT]


def test_everybody_but_those_named():
    statement = {
        "Effect": "Deny",
        "NotPrincipal": {"AWS": [_ROLE, "222222222222"]},
        "Action": "*",
        "Resource": "*",
    }
    other = Principal("333333333333", "arn:aws:iam::333333333333:role/app")
    assert judge_resource([statement], Request("a:b", "r"), _APP) is Verdict.SILENT
    assert judge_resource([statement], Request("a:b", "r"), other) is Verdict.DENIED


def test_a_document_is_read_as_text_bytes_or_value():
    document = {"Statement": {"Effect": "Allow"}}
    text = json.dumps(document)
    assert read_statements(text) == read_statements(text.encode()) == [{"Effect": "Allow"}]
    assert read_statements(document) == [{"Effect": "Allow"}]
    assert read_statements(None) == []
