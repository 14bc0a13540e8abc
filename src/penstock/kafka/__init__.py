"""Kafka: who we are to the brokers, topics, sending and reading."""

from __future__ import annotations

from penstock.kafka.access import check_access
from penstock.kafka.consumer import Consumer, open_consumer
from penstock.kafka.producer import Delivery, Message, Producer, open_producer
from penstock.kafka.settings import KafkaSettings, Security
from penstock.kafka.topics import Topic, ensure_topic, open_admin

__all__ = [
    "Consumer",
    "Delivery",
    "KafkaSettings",
    "Message",
    "Producer",
    "Security",
    "Topic",
    "check_access",
    "ensure_topic",
    "open_admin",
    "open_consumer",
    "open_producer",
]
