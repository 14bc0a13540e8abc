"""Settings of a producer, and of an intake for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from penstock.errors import SchemaError
from penstock.framing import CompressionRule
from penstock.kafka import MAX_RECORD_BYTES, KafkaSettings, Topic
from penstock.records import READING, RowShape
from penstock.schemas import Numbers, Policy, Times, check_schema
from penstock.settings import Settings, nested, parse_count, parse_match, setting

_LEFT_TO_BROKERS = -1  # the same value as in `Topic`


_TOPIC = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
_SCHEMA_NAME = re.compile(r"[a-zA-Z0-9_$#.-]{1,255}")  # that a registry takes
_SCHEMA_NAME_MEANING = (
    "name of the events' schema and, unless the policy is fixed, of its Avro record: letters,"
    " digits and _, no digit first"
)


def _parse_size(text: str) -> int:
    return _LEFT_TO_BROKERS if text == str(_LEFT_TO_BROKERS) else parse_count(text)


def _parse_percent(text: str) -> int:
    if (percent := parse_count(text)) > 100:
        raise ValueError(text)
    return percent


def _is_record_name(text: str) -> bool:
    """Return whether an Avro record can have this name."""
    try:
        check_schema({"type": "record", "name": text, "fields": []})
    except SchemaError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ProducerSettings(Settings):
    """The topic, the schema registry and its policy, and the shape of rows."""

    kafka: KafkaSettings = nested(KafkaSettings)
    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URL of the schema registry, such as glue://NAME",
        secret=True,  # it may contain an external id
    )
    topic: str = setting(
        "PENSTOCK_TOPIC",
        "topic that the records go to, up to 249 letters, digits or . _ -",
        parse=partial(parse_match, _TOPIC),
        default="sensor",
    )
    topic_partitions: int = setting(
        "PENSTOCK_TOPIC_PARTITIONS",
        "partitions of the topic if it does not exist yet, -1 for the default of the brokers",
        parse=_parse_size,
        default=_LEFT_TO_BROKERS,
    )
    topic_replicas: int = setting(
        "PENSTOCK_TOPIC_REPLICAS",
        "replicas of the topic if it does not exist yet, -1 for the default of the brokers",
        parse=_parse_size,
        default=_LEFT_TO_BROKERS,
    )
    schema_name: str = setting(
        "PENSTOCK_SCHEMA_NAME",
        _SCHEMA_NAME_MEANING,
        parse=partial(parse_match, _SCHEMA_NAME),
        default="sensor",
    )
    policy: Policy = setting(
        "PENSTOCK_POLICY",
        "schema of an event: grow (every field ever seen), exact (its own fields, so that each"
        " combination is a version) or fixed (the newest version; it registers nothing)",
        parse=Policy,
        default=Policy.GROW,
    )
    version_budget: int = setting(
        "PENSTOCK_VERSION_BUDGET",
        "the most versions of the schema, 1 or more",
        parse=parse_count,
        default=100,
    )
    numbers: Numbers = setting(
        "PENSTOCK_NUMBERS",
        "type of the numbers in new fields: double (refuses a number that a double does not hold"
        " with all its digits) or decimal (20 digits before the point and 18 after it)",
        parse=Numbers,
        default=Numbers.DOUBLE,
    )
    times: Times = setting(
        "PENSTOCK_TIMES",
        "type of texts in ISO 8601 with a zone in new fields: text, timestamp-millis or"
        " timestamp-micros (a text with more digits is refused)",
        parse=Times,
        default=Times.TEXT,
    )
    compress_bytes: int = setting(
        "PENSTOCK_COMPRESS_BYTES",
        "size of the smallest payload that is compressed",
        parse=parse_count,
        default=CompressionRule().min_bytes,
    )
    compress_saving: int = setting(
        "PENSTOCK_COMPRESS_SAVING",
        "percent that compression has to save, 1 to 100, or the payload stays plain",
        parse=_parse_percent,
        default=CompressionRule().min_saving,
    )
    max_record_bytes: int = setting(
        "PENSTOCK_MAX_RECORD_BYTES",
        "size of the largest record that is sent; for larger ones raise the topic's"
        " max.message.bytes too, which is 1 MB by default and 8 MB at most on MSK; consumer"
        " functions get none of more than about 4.4 MB, which Lambda drops",
        parse=parse_count,
        default=MAX_RECORD_BYTES,
    )
    device_id: str = setting(
        "DEVICE_ID", "the device of a reading that names none", default="000001"
    )
    shape: RowShape = nested(RowShape, READING)

    def problems(self) -> Iterator[str]:
        """Yield a message if the policy needs another schema name."""
        name = self.schema_name
        if self.policy is not Policy.FIXED and name and not _is_record_name(name):
            yield f"PENSTOCK_SCHEMA_NAME is {name!r}, expected {_SCHEMA_NAME_MEANING}"

    @property
    def compression(self) -> CompressionRule:
        """The rule that says which payloads are compressed."""
        return CompressionRule(self.compress_bytes, self.compress_saving)

    @property
    def new_topic(self) -> Topic:
        """The topic to create if it does not exist."""
        return Topic(self.topic, self.topic_partitions, self.topic_replicas)


@dataclass(frozen=True, slots=True)
class IntakeSettings(Settings):
    """A producer, and the bucket for its rejected events."""

    producer: ProducerSettings = nested(ProducerSettings)
    rejected_bucket: str = setting(
        "PENSTOCK_REJECTED_BUCKET", "bucket that keeps events that are not written"
    )
