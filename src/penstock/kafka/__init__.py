"""Kafka: logins, topics, access lists, a producer and a consumer."""

from __future__ import annotations

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
from penstock.kafka.login import find_user, java_options
from penstock.kafka.offsets import (
    FoundOffsets,
    PartitionOffsets,
    look_up_offsets,
    read_offsets,
)
from penstock.kafka.probe import TWO_MINUTES, await_brokers, await_permissions
from penstock.kafka.producer import MAX_RECORD_BYTES, Delivery, Message, Producer, open_producer
from penstock.kafka.reading import Start, read_topic
from penstock.kafka.settings import KafkaSettings, Security
from penstock.kafka.topic_ids import TopicIds
from penstock.kafka.topics import (
    Topic,
    apply_topics,
    drop_topic,
    ensure_topic,
    name_nearest_topic,
)
from penstock.kafka.trial import try_access, try_login

__all__ = [
    "MAX_RECORD_BYTES",
    "TWO_MINUTES",
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
    "await_brokers",
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
