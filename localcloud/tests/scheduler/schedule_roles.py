"""The account of the tests of schedules, and the trust that a role of theirs needs."""

from __future__ import annotations

from localcloud.testing.policies import trust

ACCOUNT, REGION = "111111111111", "eu-central-1"
SCHEDULER = {"Service": "scheduler.amazonaws.com"}


def trust_of_group(group="default", account=ACCOUNT):
    """The trust policy that AWS recommends: the group, not the schedule."""
    source = f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule-group/{group}"
    condition = {"StringEquals": {"aws:SourceAccount": account, "aws:SourceArn": source}}
    return trust(SCHEDULER, Condition=condition)
