"""How far consumer groups are behind: what they have committed, beside the ends of partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from kafka import KafkaAdminClient, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import GroupAuthorizationFailedError
from kafka.structs import OffsetAndMetadata

from penstock.kafka._failures import translated_kafka_errors
from penstock.kafka.settings import KafkaSettings
from penstock.kafka.topics import open_admin

_Offsets = Mapping[TopicPartition, OffsetAndMetadata]


@dataclass(frozen=True, slots=True)
class GroupLag:
    """A partition that a group has committed an offset of, and the partition's end."""

    group: str
    topic: str
    partition: int
    committed: int
    end: int

    @property
    def records(self) -> int:
        """The records that wait; 0 if the topic was made again and is shorter now."""
        return max(self.end - self.committed, 0)


def read_group_lags(settings: KafkaSettings, groups: Sequence[str] = ()) -> list[GroupLag]:
    """Return the lags of groups, or of all that the login may describe, by group and partition.

    Raises:
        BrokerError: no broker can be used, or the login may not read a group or topic.
    """
    with (
        translated_kafka_errors("the lags of consumer groups cannot be read"),
        closing(open_admin(settings)) as admin,
    ):
        committed = dict(_read_offsets(admin, groups))
        ends = _read_ends(admin, {place for kept in committed.values() for place in kept})
    return sorted(
        (
            GroupLag(group, place.topic, place.partition, kept.offset, ends[place])
            for group, offsets in committed.items()
            for place, kept in offsets.items()
        ),
        key=lambda each: (each.group, each.topic, each.partition),
    )


def _read_offsets(admin: KafkaAdminClient, groups: Sequence[str]) -> Iterator[tuple[str, _Offsets]]:
    """Yield what groups have committed, of all if none is named.

    A login that may change access lists sees groups too whose offsets it may not read.
    """
    for name in groups or [each["group_id"] for each in admin.list_groups()]:
        try:
            yield from admin.list_group_offsets(name).items()
        except GroupAuthorizationFailedError:
            if groups:
                raise


def _read_ends(admin: KafkaAdminClient, places: set[TopicPartition]) -> dict[TopicPartition, int]:
    wanted = dict.fromkeys(sorted(places), OffsetSpec.LATEST)
    found = admin.list_partition_offsets(wanted) if wanted else {}
    return {place: each.offset for place, each in found.items()}
