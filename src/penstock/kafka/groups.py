"""How far consumer groups are behind: what they have committed, beside the ends of partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
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
    """A partition of a topic that a group reads: what it has committed, and what Kafka keeps.

    `committed` is None if the group has committed offsets of other partitions alone, or if the one
    of this partition has expired.
    """

    group: str
    topic: str
    partition: int
    committed: int | None
    begin: int
    end: int

    @property
    def records(self) -> int:
        """The records that wait, all that are kept if none is committed.

        0 if the topic was made again and is shorter now.
        """
        return max(self.end - (self.begin if self.committed is None else self.committed), 0)


def read_group_lags(settings: KafkaSettings, groups: Sequence[str] = ()) -> list[GroupLag]:
    """Return the lags of groups, or of all that the login may describe, by group and partition.

    They are of all partitions of each topic that a group has committed an offset of.

    Raises:
        BrokerError: no broker can be used, or the login may not read a group or topic.
    """
    with (
        translated_kafka_errors("the lags of consumer groups cannot be read"),
        closing(open_admin(settings)) as admin,
    ):
        committed = dict(_read_offsets(admin, groups))
        places = _list_places(admin, {each.topic for kept in committed.values() for each in kept})
        begins = _look_up(admin, places, OffsetSpec.EARLIEST)
        ends = _look_up(admin, places, OffsetSpec.LATEST)
    return [
        GroupLag(
            group,
            place.topic,
            place.partition,
            offsets[place].offset if place in offsets else None,
            begins[place],
            ends[place],
        )
        for group, offsets in sorted(committed.items())
        for place in places
        if place.topic in {each.topic for each in offsets}
    ]


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


def _list_places(admin: KafkaAdminClient, topics: Set[str]) -> list[TopicPartition]:
    """Return the partitions of topics, sorted."""
    found = admin.describe_topics(sorted(topics)) if topics else ()
    return sorted(
        TopicPartition(topic["name"], each["partition_index"])
        for topic in found
        for each in topic["partitions"]
    )


def _look_up(
    admin: KafkaAdminClient, places: Sequence[TopicPartition], spec: OffsetSpec
) -> dict[TopicPartition, int]:
    found = admin.list_partition_offsets(dict.fromkeys(places, spec)) if places else {}
    return {place: each.offset for place, each in found.items()}
