"""The tags of work groups and catalogs: moto's, except for a resource without tags."""

from __future__ import annotations

from typing import Any

from moto.athena.models import athena_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation


@operation("athena", "ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List the tags; for a resource without tags moto would answer that it does not exist."""
    arn, athena = call.params["ResourceARN"], athena_backends[call.account][call.region]
    if arn.rpartition("/")[2] not in athena.work_groups | athena.data_catalogs:
        raise AwsError("ResourceNotFoundException", f"Athena Resource, {arn} Does Not Exist")
    tags: dict[str, Any] = athena.tagger.list_tags_for_resource(arn)
    return tags
