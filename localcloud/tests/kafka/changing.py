"""Changes of a cluster, made and refused, and the end of their operations."""

from __future__ import annotations

import time

from localcloud.tests.refusals import refusal


def update(kafka, name, shown, *, ends="UPDATE_COMPLETE", **params):
    """Change a cluster and wait for the end; returns what the operation shows."""
    answer = getattr(kafka, name)(
        ClusterArn=shown["ClusterArn"], CurrentVersion=shown["CurrentVersion"], **params
    )
    return wait_operation(kafka, answer["ClusterOperationArn"], ends)


def wait_operation(kafka, arn, ends="UPDATE_COMPLETE"):
    """Wait until an operation is in a state; returns what it shows."""
    deadline = time.monotonic() + 60
    while True:
        shown = kafka.describe_cluster_operation(ClusterOperationArn=arn)["ClusterOperationInfo"]
        if shown["OperationState"] == ends:
            return shown
        assert time.monotonic() < deadline, f"not {ends}: {shown}"
        time.sleep(0.02)


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
