"""Tables of DynamoDB by a key of strings."""

from __future__ import annotations

from typing import Any


def make_table(dynamodb: Any, name: str, *key: str) -> Any:
    """Make one with a partition key and perhaps a sort key, by boto3's resource or client."""
    kinds = zip(key, ("HASH", "RANGE"), strict=False)
    return dynamodb.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": each, "KeyType": kind} for each, kind in kinds],
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in key],
    )
