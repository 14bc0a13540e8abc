"""Kafka: logins, topics, access lists, a producer and a consumer."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.kafka.login import find_user, java_options
from penstock.kafka.probe import await_permissions
from penstock.kafka.producer import MAX_RECORD_BYTES, Delivery, Message, Producer, open_producer
from penstock.kafka.settings import KafkaSettings, Security
from penstock.kafka.topics import (
    Topic,
    apply_topics,
    drop_topic,
    ensure_topic,
    name_nearest_topic,
)

if TYPE_CHECKING:
    from penstock.kafka.acls import (
        AccessChange,
        AccessList,
        Reader,
        apply_access_lists,
        apply_readers,
        drop_access,
        read_access_lists,
    )
    from penstock.kafka.consumer import Consumer, open_consumer
    from penstock.kafka.groups import GroupLag, read_group_lags
    from penstock.kafka.offsets import (
        FoundOffsets,
        PartitionOffsets,
        look_up_offsets,
        read_offsets,
    )
    from penstock.kafka.reading import Start, read_topic
    from penstock.kafka.topic_ids import TopicIds
    from penstock.kafka.trial import try_access, try_login

__all__ = [
    "MAX_RECORD_BYTES",
    "AccessChange",
    "AccessList",
    "Consumer",
    "Delivery",
    "FoundOffsets",
    "GroupLag",
    "KafkaSettings",
    "Message",
    "PartitionOffsets",
    "Producer",
    "Reader",
    "Security",
    "Start",
    "Topic",
    "TopicIds",
    "apply_access_lists",
    "apply_readers",
    "apply_topics",
    "await_permissions",
    "drop_access",
    "drop_topic",
    "ensure_topic",
    "find_user",
    "java_options",
    "look_up_offsets",
    "name_nearest_topic",
    "open_consumer",
    "open_producer",
    "read_access_lists",
    "read_group_lags",
    "read_offsets",
    "read_topic",
    "try_access",
    "try_login",
]

# What a producer does not need: a function compiles each module that it imports.
_IMPORTED_LATER = {
    "AccessChange": "acls",
    "AccessList": "acls",
    "Consumer": "consumer",
    "FoundOffsets": "offsets",
    "GroupLag": "groups",
    "PartitionOffsets": "offsets",
    "Reader": "acls",
    "Start": "reading",
    "TopicIds": "topic_ids",
    "apply_access_lists": "acls",
    "apply_readers": "acls",
    "drop_access": "acls",
    "look_up_offsets": "offsets",
    "open_consumer": "consumer",
    "read_access_lists": "acls",
    "read_group_lags": "groups",
    "read_offsets": "offsets",
    "read_topic": "reading",
    "try_access": "trial",
    "try_login": "trial",
}


def __getattr__(name: str) -> Any:
    """Import the names that operators and consumers use on first use."""
    if name in _IMPORTED_LATER:
        return getattr(import_module(f"penstock.kafka.{_IMPORTED_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
