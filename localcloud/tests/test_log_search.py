"""FilterLogEvents: streams, times, patterns and pages.

Expected answers: API reference of CloudWatch Logs, "FilterLogEvents".
"""

from __future__ import annotations

import time

import pytest

from tests.refusals import refusal

_GROUP = "/search"


@pytest.fixture(scope="module")
def logs(client):
    """A log group with two runs, whose events take turns; two lines of the second are equal."""
    logs, now = client("logs"), int(time.time() * 1000)
    logs.create_log_group(logGroupName=_GROUP)
    for number, stream in enumerate(("jobs/1/driver", "jobs/2/driver")):
        logs.create_log_stream(logGroupName=_GROUP, logStreamName=stream)
        events = [
            {"timestamp": now + 10 * at + number, "message": f'{{"Rows": {at}, "run": {number}}}'}
            for at in range(3)
        ]
        logs.put_log_events(logGroupName=_GROUP, logStreamName=stream, logEvents=events)
    return logs, now


def _rows(logs, **asked):
    pages = logs[0].get_paginator("filter_log_events").paginate(logGroupName=_GROUP, **asked)
    return [event["message"] for page in pages for event in page["events"]]


def test_events_of_streams_with_a_prefix_or_name_are_found(logs):
    second = [f'{{"Rows": {at}, "run": 1}}' for at in range(3)]
    assert _rows(logs, logStreamNamePrefix="jobs/2") == second
    assert _rows(logs, logStreamNames=["jobs/2/driver"]) == second
    assert _rows(logs, logStreamNamePrefix="driver") == []


def test_a_group_is_found_by_its_arn(logs):
    (group,) = logs[0].describe_log_groups(logGroupNamePrefix=_GROUP)["logGroups"]
    found = logs[0].filter_log_events(logGroupIdentifier=group["logGroupArn"])
    assert len(found["events"]) == 6


def test_events_match_a_pattern_within_a_time_with_both_ends(logs):
    assert _rows(logs, filterPattern="{ $.Rows >= 2 }", logStreamNamePrefix="jobs/1") == [
        '{"Rows": 2, "run": 0}'
    ]
    between = {"startTime": logs[1] + 1, "endTime": logs[1] + 10}
    assert _rows(logs, **between) == ['{"Rows": 0, "run": 1}', '{"Rows": 1, "run": 0}']


def test_events_match_any_of_optional_terms(logs):
    found = _rows(logs, filterPattern='?missing ?"Rows\\": 2" ?1', logStreamNamePrefix="jobs/1")
    assert found == ['{"Rows": 1, "run": 0}', '{"Rows": 2, "run": 0}']


def test_pages_have_all_events_once_in_order_of_time(logs):
    whole = logs[0].filter_log_events(logGroupName=_GROUP)
    assert "nextToken" not in whole
    assert whole["searchedLogStreams"] == []
    stamps = [event["timestamp"] - logs[1] for event in whole["events"]]
    assert stamps == [0, 1, 10, 11, 20, 21]
    page = logs[0].filter_log_events(logGroupName=_GROUP, limit=4)
    rest = logs[0].filter_log_events(logGroupName=_GROUP, limit=4, nextToken=page["nextToken"])
    assert page["events"] + rest["events"] == whole["events"]
    assert "nextToken" not in rest


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ({"filterPattern": "?a b"}, "InvalidParameterException", "Invalid filter pattern"),
        ({"nextToken": "made-up"}, "InvalidParameterException", "nextToken is invalid"),
        ({"logStreamNames": ["none"]}, "ResourceNotFoundException", "log stream"),
        (
            {"logStreamNames": ["a"], "logStreamNamePrefix": "a"},
            "InvalidParameterException",
            "one of logStreamNames",
        ),
        ({"logGroupName": "none"}, "ResourceNotFoundException", "log group"),
    ],
)
def test_invalid_searches_are_refused(logs, asked, code, said):
    found = refusal(logs[0].filter_log_events, **{"logGroupName": _GROUP} | asked)
    assert found[0] == code
    assert said in found[1]
