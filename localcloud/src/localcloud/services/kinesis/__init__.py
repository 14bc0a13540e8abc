"""Kinesis Data Streams is moto's."""

from __future__ import annotations

from localcloud.door.service import Moto, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "kinesis",
    endpoint="kinesis-streams",
    throttle=None,
    resources=by_action,
    moto=Moto(
        keeps=(
            "AddTagsToStream CreateStream DecreaseStreamRetentionPeriod "
            "IncreaseStreamRetentionPeriod MergeShards PutRecord PutRecords RegisterStreamConsumer "
            "SplitShard UpdateShardCount UpdateStreamMode"
        ),
    ),
)
