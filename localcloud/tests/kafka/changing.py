"""Changes of a cluster, made and refused, and the end of their operations."""

from __future__ import annotations

from localcloud.testing import wait_until
from tests.refusals import refusal


def update(kafka, name, shown, *, ends="UPDATE_COMPLETE", **params):
    """Change a cluster and wait for the end; returns what the operation shows."""
    answer = getattr(kafka, name)(
        ClusterArn=shown["ClusterArn"], CurrentVersion=shown["CurrentVersion"], **params
    )
    return wait_operation(kafka, answer["ClusterOperationArn"], ends)


def wait_operation(kafka, arn, ends="UPDATE_COMPLETE"):
    """Wait until an operation ends, in this state; returns what it shows."""

    def ended():
        shown = kafka.describe_cluster_operation(ClusterOperationArn=arn)["ClusterOperationInfo"]
        return shown if shown["OperationState"] != "UPDATE_IN_PROGRESS" else None

    shown = wait_until(f"the end of {arn}", ended, 120)
    assert shown["OperationState"] == ends, shown
    return shown


def refuse(kafka, name, shown, **params):
    """Ask for a change that must be refused; returns the message."""
    code, message = refusal(
        getattr(kafka, name),
        ClusterArn=shown["ClusterArn"],
        CurrentVersion=shown["CurrentVersion"],
        **params,
    )
    assert code == "BadRequestException"
    return message
