"""The condition operators, each fulfilled and not, and the one nobody knows."""

from __future__ import annotations

import pytest

from localcloud.errors import UndecidablePolicyError
from localcloud.identity.conditions import fulfills, matches_arn

_CONTEXT = {
    "sts:ExternalId": "abc",
    "aws:PrincipalArn": "arn:aws:iam::111111111111:role/team/app",
    "aws:SecureTransport": "true",
    "aws:SourceIp": "10.1.2.3",
    "aws:CurrentTime": "2026-11-21T10:00:00+00:00",
    "aws:TagKeys": ["a", "b"],
    "size": "7",
    "raw": "YWJj",
}


@pytest.mark.parametrize(
    ("operator", "key", "expected", "verdict"),
    [
        ("StringEquals", "sts:ExternalId", "abc", True),
        ("StringEquals", "STS:externalid", ["x", "abc"], True),
        ("StringEquals", "sts:ExternalId", "ABC", False),
        ("StringEqualsIgnoreCase", "sts:ExternalId", "ABC", True),
        ("StringNotEquals", "sts:ExternalId", ["x", "abc"], False),
        ("StringNotEquals", "sts:ExternalId", "x", True),
        ("StringLike", "sts:ExternalId", "a*", True),
        ("StringLike", "sts:ExternalId", "a?", False),
        ("StringNotLike", "sts:ExternalId", "a*", False),
        ("ArnLike", "aws:PrincipalArn", "arn:aws:iam::*:role/team/*", True),
        ("ArnEquals", "aws:PrincipalArn", "arn:aws:iam::222222222222:role/team/app", False),
        ("ArnNotLike", "aws:PrincipalArn", "arn:aws:iam::222222222222:*", True),
        ("Bool", "aws:SecureTransport", "true", True),
        ("Bool", "aws:SecureTransport", False, False),
        ("IpAddress", "aws:SourceIp", "10.0.0.0/8", True),
        ("NotIpAddress", "aws:SourceIp", "10.0.0.0/8", False),
        ("NumericLessThan", "size", "8", True),
        ("NumericGreaterThanEquals", "size", "8", False),
        ("DateLessThan", "aws:CurrentTime", "2026-11-22T00:00:00Z", True),
        ("DateGreaterThan", "aws:CurrentTime", "2026-11-22T00:00:00Z", False),
        ("DateLessThanEquals", "aws:CurrentTime", "2026-11-21T10:00:00Z", True),
        ("DateGreaterThanEquals", "aws:CurrentTime", "2026-11-21T10:00:01Z", False),
        ("DateEquals", "aws:CurrentTime", "2026-11-21T10:00:00", True),
        ("DateNotEquals", "aws:CurrentTime", "1795255200", False),
        ("BinaryEquals", "raw", "YWJj", True),
        ("BinaryEquals", "raw", "eHl6", False),
        ("Null", "sts:ExternalId", "true", False),
        ("Null", "absent", "true", True),
        ("StringEquals", "absent", "x", False),
        ("StringNotEquals", "absent", "x", True),
        ("StringEqualsIfExists", "absent", "x", True),
        ("StringEqualsIfExists", "sts:ExternalId", "x", False),
        ("ForAllValues:StringEquals", "aws:TagKeys", ["a", "b", "c"], True),
        ("ForAllValues:StringEquals", "aws:TagKeys", "a", False),
        ("ForAllValues:StringEquals", "absent", "a", True),
        ("ForAnyValue:StringEquals", "aws:TagKeys", "a", True),
        ("ForAnyValue:StringEquals", "absent", "a", False),
    ],
)
def test_an_operator_compares_one_key(operator, key, expected, verdict):
    assert fulfills({operator: {key: expected}}, _CONTEXT) is verdict


def test_all_operators_and_keys_of_a_condition_must_hold():
    both = {"StringEquals": {"sts:ExternalId": "abc", "size": "7"}, "Bool": {"absent": "true"}}
    assert fulfills({"StringEquals": both["StringEquals"]}, _CONTEXT)
    assert not fulfills(both, _CONTEXT)


@pytest.mark.parametrize("operator", ["StringMatches", "ForSomeValues:StringEquals"])
def test_an_unknown_operator_is_never_fulfilled(operator):
    with pytest.raises(UndecidablePolicyError, match=f"condition operator {operator}"):
        fulfills({operator: {"sts:ExternalId": "abc"}}, _CONTEXT)


@pytest.mark.parametrize("operator", ["StringEquals", "StringNotEquals"])
def test_a_policy_variable_is_neither_like_nor_unlike(operator):
    with pytest.raises(UndecidablePolicyError, match=r"policy variable \$\{aws:username\}"):
        fulfills({operator: {"sts:ExternalId": "${aws:username}"}}, _CONTEXT)


def test_a_wildcard_does_not_reach_past_a_colon_of_an_arn():
    assert matches_arn("arn:aws:s3:::b/*", "arn:aws:s3:::b/a:b/c")
    assert not matches_arn("arn:aws:glue:*:table/a", "arn:aws:glue:r:1:table/a")
