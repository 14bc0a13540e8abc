"""What tells a topic from an earlier one of its name."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from penstock.kafka._mechanism import client_options
from penstock.kafka.access import check_access
from penstock.kafka.settings import KafkaSettings

_VERSION = 10  # of the request, the first whose answer has ids; brokers of 2.8 and later
_NONE = UUID(int=0)


def find_topic_ids(settings: KafkaSettings, topics: Sequence[str]) -> dict[str, str]:
    """Find the ids of topics, which a topic that is created anew does not share.

    Raises:
        TopicNotFoundError, TopicForbiddenError: a topic does not exist, or not for us.
        BrokerError: of the kind that says why no broker can be used.
    """
    if not topics:
        return {}
    metadata = check_access(client_options(settings), topics, version=_VERSION)
    return {each.name: str(each.topic_id) for each in metadata.topics if each.topic_id != _NONE}
