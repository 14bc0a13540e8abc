"""S3 is moto's, but for the end of a delete marker and what buckets' policies say."""

from __future__ import annotations

from typing import Any

from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket, FakeDeleteMarker

from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_resource,
    read_statements,
)

_ANYBODY = Principal("", "")


def _dispose(_marker: FakeDeleteMarker, _garbage: bool = False) -> None:
    """Do nothing: a marker has no content to let go of."""


# Where versions are not kept any more, deleting a key disposes of all its versions, and moto forgot
# that markers are among them: a bucket with markers could not be emptied.
FakeDeleteMarker.dispose = _dispose  # type: ignore[attr-defined]  # that it has none is the point


def _get_permission(bucket: FakeBucket, action: str, resource: str) -> Any:
    """Say whether a bucket's policy lets anybody in.

    Who signs was judged at the door already, with the conditions; moto would judge again without
    them, so that a bucket that refuses plain HTTP would refuse everybody.
    """
    request = Request(action, resource, {"aws:SecureTransport": "true"})
    allowed = judge_resource(read_statements(bucket.policy), request, _ANYBODY) is Verdict.ALLOWED
    return PermissionResult.PERMITTED if allowed else PermissionResult.NEUTRAL


FakeBucket.get_permission = _get_permission  # type: ignore[assignment, method-assign]  # as moto calls it
