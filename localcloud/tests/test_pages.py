"""Lists in pages: a token that no page named is refused, by the error that each service has."""

from __future__ import annotations

import pytest

from tests.refusals import fails


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        ("cloudwatch", "describe_alarm_history", "InvalidNextToken"),
        ("glue", "get_crawlers", "InvalidInputException"),
        ("lakeformation", "list_permissions", "InvalidInputException"),
        ("scheduler", "list_schedules", "ValidationException"),
    ],
)
@pytest.mark.parametrize("token", ["x", "999"])
def test_a_token_that_no_page_named_is_refused(client, service, operation, code, token):
    asked = getattr(client(service), operation)
    fails(code, f"NextToken '{token}' is unknown", asked, NextToken=token)
