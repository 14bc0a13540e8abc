"""How calls of S3 name their resources for IAM, and the keys of objects that they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.s3.models import FakeKey

from localcloud.door.operations import Call
from localcloud.identity.access import Access
from localcloud.identity.resource_policies import find_bucket, key_use_of_object
from localcloud.services.s3.iam_actions import BUCKET_ACTIONS, DECRYPTS, OBJECT_ACTIONS

_TELLS = frozenset({"GetObject", "HeadObject"})  # whether an object is there
_VERSIONED = frozenset({"s3:GetObject", "s3:DeleteObject"})


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the bucket or the objects of a call, and the use of their keys."""
    bucket, key = call.params.get("Bucket"), call.params.get("Key")
    if bucket is None:
        yield Access(BUCKET_ACTIONS.get(call.operation, action), "*")
    elif key is None:
        yield from _list_bucket(call, action, f"arn:aws:s3:::{bucket}")
    else:
        arn = f"arn:aws:s3:::{bucket}/{key}"
        action = OBJECT_ACTIONS.get(call.operation, action)
        yield Access(_of_version(action, call.params), arn)
        if call.operation in _TELLS and not _is_there(bucket, key):
            # Without it the answer is 403, not 404 (S3 API Reference, GetObject: permissions). The
            # key counts as the prefix of the listing (ceph pull request 68577).
            yield Access("s3:ListBucket", f"arn:aws:s3:::{bucket}", {"s3:prefix": key})
        if source := call.params.get("CopySource"):
            yield from _read_source(source.lstrip("/").partition("?")[0])
        for use in key_use_of_object(call.params, action):
            yield Access(*use)
            if call.operation in DECRYPTS:
                yield Access("kms:Decrypt", *use[1:])


def _read_source(path: str) -> Iterator[Access]:
    bucket, _, key = path.partition("/")
    yield Access("s3:GetObject", f"arn:aws:s3:::{path}")
    for use in key_use_of_object({"Bucket": bucket, "Key": key}, "s3:GetObject"):
        yield Access(*use)


def _is_there(bucket: str, key: str) -> bool:
    _, found = find_bucket(bucket)
    return found is None or isinstance(found.keys.get(key), FakeKey)


def _of_version(action: str, params: dict[str, Any]) -> str:
    return f"{action}Version" if action in _VERSIONED and "VersionId" in params else action


def _list_bucket(call: Call, action: str, arn: str) -> Iterator[Access]:
    if call.operation == "DeleteObjects":
        for entry in call.params.get("Delete", {}).get("Objects", []):
            deletes = _of_version("s3:DeleteObject", entry)
            yield Access(deletes, f"{arn}/{entry['Key']}")
    else:
        yield Access(BUCKET_ACTIONS.get(call.operation, action), arn)
