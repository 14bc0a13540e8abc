"""Amazon S3 Tables: moto keeps table buckets, and where the metadata of each table is."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.operations import Call
from localcloud.door.service import Moto, Service
from localcloud.identity.access import Access


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the table bucket of a call, or its table."""
    bucket, table = call.params.get("tableBucketARN"), call.params.get("name")
    named = f"{bucket}/table/{table}" if bucket and table else bucket
    yield Access(action, call.params.get("tableArn") or named)


SERVICE = Service(
    "s3tables",
    endpoint="s3tables",
    throttle=None,
    resources=list_resources,
    moto=Moto(
        keeps=(
            "CreateNamespace CreateTable CreateTableBucket RenameTable UpdateTableMetadataLocation"
        ),
    ),
)
