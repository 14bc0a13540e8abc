"""Athena is moto's, but for the tags of a work group that has none."""

from __future__ import annotations

from typing import Any

from moto.athena.models import athena_backends

from localcloud.operations import Call, operation


@operation("athena", "ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List the tags, of which there may be none: moto says then that there is no such resource."""
    tagger = athena_backends[call.account][call.region].tagger
    tags: dict[str, Any] = tagger.list_tags_for_resource(call.params["ResourceARN"])
    return tags
