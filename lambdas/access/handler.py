"""The access function: Terraform invokes it to apply topics and access lists.

Calls are idempotent; an error fails `terraform apply`.
"""

from __future__ import annotations

import os
from typing import Any

from penstock.kafka import (
    KafkaSettings,
    Reader,
    Topic,
    apply_readers,
    apply_topics,
    await_permissions,
    drop_access,
    drop_topic,
)

SETTINGS = KafkaSettings.from_environ(os.environ)


def lambda_handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Apply an event of infra/modules/kafka-access, and return the changes in words."""
    return {"done": await_permissions(lambda: _apply_event(event))}


def _apply_event(event: dict[str, Any]) -> list[str]:
    if wanted := event.get("wanted"):
        return _apply_access(wanted)
    # Terraform's provider adds `tf` to the input (lifecycle_scope CRUD); only a deletion has work.
    if event["tf"]["action"] != "delete":
        return []
    if reader := event.get("reader"):
        return _release_reader(reader)
    return _release_topic(event["topic"])


def _apply_access(wanted: dict[str, Any]) -> list[str]:
    topics = apply_topics(
        SETTINGS, [Topic(name, **topic) for name, topic in wanted["topics"].items()]
    )
    change = apply_readers(
        SETTINGS,
        [
            Reader(
                username,
                tuple(reader["topics"]),
                reader["group_prefix"],
                tuple(reader["writes"]),
                reader["transactions"],
                tuple(reader["seen_groups"]),
            )
            for username, reader in wanted["readers"].items()
        ],
    )
    return [
        *topics,
        *_describe_lists(change.created, "created"),
        *_describe_lists(change.deleted, "deleted"),
    ]


def _release_reader(reader: dict[str, Any]) -> list[str]:
    """Delete the access lists of a user that Terraform deletes."""
    return _describe_lists(drop_access(SETTINGS, reader["username"]).deleted, "deleted")


def _release_topic(topic: dict[str, Any]) -> list[str]:
    """Delete a topic that Terraform deletes, if `delete_when_removed` is set."""
    if not topic["delete_when_removed"]:
        return []
    return [f"topic {topic['name']!r} was deleted"] if drop_topic(SETTINGS, topic["name"]) else []


def _describe_lists(lists: tuple[str, ...], change: str) -> list[str]:
    return [f"access list {acl} was {change}" for acl in lists]
