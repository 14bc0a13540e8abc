"""Access lists (ACLs): each reader gets exactly the permissions it needs.

Only the access lists of the named users are changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import NoError

from penstock.errors import BrokerError, BrokerUnavailableError
from penstock.kafka._failures import translate, translated_kafka_errors
from penstock.kafka.settings import KafkaSettings
from penstock.kafka.topics import open_admin

_PAUSE_SECONDS: Final = 0.05
_AT_ONCE: Final = 100  # access lists of a request
_USER: Final = "User:"  # the only type of principal that Kafka's own authorizer knows
_ANY_HOST: Final = "*"
_CLUSTER: Final = ("CLUSTER", "kafka-cluster")


@dataclass(frozen=True, slots=True, order=True)
class AccessList:
    """What a user may do, or with `permission` DENY may not do, with which resource, from where.

    Operation, kind of resource and permission have the names of Kafka, such as READ, TOPIC, ALLOW.
    """

    user: str
    operation: str
    kind: str
    name: str
    is_prefix: bool = False
    host: str = _ANY_HOST
    permission: str = "ALLOW"

    @property
    def resource(self) -> str:
        return f"{self.kind.lower()} {self.name}{' by prefix' if self.is_prefix else ''}"

    def __str__(self) -> str:
        """Describe it in words, such as `User:anna ALLOW READ on topic sensor`."""
        host = "" if self.host == _ANY_HOST else f" from {self.host}"
        return f"{_USER}{self.user} {self.permission} {self.operation} on {self.resource}{host}"


@dataclass(frozen=True, slots=True)
class Reader:
    """A user who reads topics in consumer groups whose names begin with `group_prefix`.

    `writes` are the topics that the user may write too. With `transactions`, transactional ids that
    begin with `group_prefix` are the user's as well. How far groups that begin with one of
    `seen_groups` are, the user may see.
    """

    username: str
    topics: tuple[str, ...]
    group_prefix: str
    writes: tuple[str, ...] = ()
    transactions: bool = False
    seen_groups: tuple[str, ...] = ()

    @property
    def access_lists(self) -> frozenset[AccessList]:
        """Return what the reader needs, and no more.

        Each operation implies DESCRIBE; since Kafka 2.8, WRITE on a topic also allows idempotent
        producers. Lambda's poller reads the brokers' settings, and delivers nothing to a user who
        may not.
        """
        user = self.username
        transactional = [AccessList(user, "WRITE", "TRANSACTIONAL_ID", self.group_prefix, True)]
        return frozenset(
            {
                *(AccessList(user, "DESCRIBE", "GROUP", name, True) for name in self.seen_groups),
                *(transactional if self.transactions else ()),
                *(AccessList(user, "READ", "TOPIC", topic) for topic in self.topics),
                *(AccessList(user, "WRITE", "TOPIC", topic) for topic in self.writes),
                AccessList(user, "READ", "GROUP", self.group_prefix, is_prefix=True),
                AccessList(user, "DESCRIBE_CONFIGS", *_CLUSTER),
            }
        )


@dataclass(frozen=True, slots=True)
class AccessChange:
    """The access lists that were created and deleted, each described in words."""

    created: tuple[str, ...]
    deleted: tuple[str, ...]


def apply_readers(settings: KafkaSettings, readers: Iterable[Reader]) -> AccessChange:
    """Create missing and delete surplus access lists of the readers; wait until brokers show it.

    Raises:
        BrokerError: an access list cannot be created or deleted; the message says which and why.
        BrokerUnavailableError: the brokers do not show the wanted access lists in time.
    """
    return apply_access_lists(settings, {each.username: each.access_lists for each in readers})


def drop_access(
    settings: KafkaSettings, username: str, *, timeout_seconds: float = 15.0
) -> AccessChange:
    """Delete every access list of a user, and wait until the brokers show it.

    Raises:
        BrokerError: as in `apply_readers`.
    """
    return apply_access_lists(settings, {username: set()}, timeout_seconds=timeout_seconds)


def read_access_lists(settings: KafkaSettings) -> frozenset[AccessList]:
    """Return the access lists of all users.

    Raises:
        BrokerError: they cannot be read; the subclass says why.
    """
    with closing(open_admin(settings)) as admin:
        return frozenset(_read_acls(admin, None))


def apply_access_lists(
    settings: KafkaSettings,
    wanted: Mapping[str, Set[AccessList]],
    report: Callable[[AccessList], None] = lambda _: None,
    *,
    timeout_seconds: float = 15.0,
) -> AccessChange:
    """Give each user exactly the wanted access lists; wait until brokers show it.

    `report` is called with each that was created or deleted.

    Raises:
        BrokerError: as in `apply_readers`.
    """
    every = set().union(*wanted.values())
    with closing(open_admin(settings)) as admin:
        found = _read_users(admin, wanted)
        missing, surplus = sorted(every - found), sorted(found - every)
        # Create before delete: a reader that changes is never without access.
        for first in range(0, len(missing), _AT_ONCE):
            _create(admin, missing[first : first + _AT_ONCE], report)
        for first in range(0, len(surplus), _AT_ONCE):
            _delete(admin, surplus[first : first + _AT_ONCE], report)
        deadline = time.monotonic() + timeout_seconds
        # The controller answers before all brokers have the change.
        while (found := _read_users(admin, wanted)) != every:
            if time.monotonic() > deadline:
                left = ", ".join(map(str, sorted(found ^ every)))
                raise BrokerUnavailableError(
                    f"access lists were not applied within {timeout_seconds:g} s: {left}"
                )
            time.sleep(_PAUSE_SECONDS)
    return AccessChange(tuple(map(str, missing)), tuple(map(str, surplus)))


def _read_users(admin: KafkaAdminClient, users: Iterable[str]) -> set[AccessList]:
    return {each for user in users for each in _read_acls(admin, user)}


def _read_acls(admin: KafkaAdminClient, user: str | None) -> list[AccessList]:
    """Return the access lists of a user, or of all."""
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    principal = None if user is None else f"{_USER}{user}"
    asked = ACLFilter(principal, None, ACLOperation.ANY, ACLPermissionType.ANY, anything)
    whose = "all users" if principal is None else principal
    with translated_kafka_errors(f"the access lists of {whose} cannot be read"):
        return [_from_kafka(acl) for acl in admin.describe_acls(asked)[0]]


def _create(
    admin: KafkaAdminClient, wanted: Sequence[AccessList], report: Callable[[AccessList], None]
) -> None:
    asked = {_to_kafka(each): each for each in wanted}
    with translated_kafka_errors(f"the access list {wanted[0]} cannot be created"):
        answer = admin.create_acls(list(asked))
    for acl in answer["succeeded"]:
        report(asked.pop(acl))
    # The client says of the others only why they failed, in their order.
    for each, kind in zip(asked.values(), answer["failed"], strict=True):
        raise translate(kind(), f"the access list {each} cannot be created", BrokerError)


def _delete(
    admin: KafkaAdminClient, surplus: Sequence[AccessList], report: Callable[[AccessList], None]
) -> None:
    with translated_kafka_errors(f"the access list {surplus[0]} cannot be deleted"):
        answers = admin.delete_acls([_to_kafka(each) for each in surplus])
    failed = []
    for each, (_, _, kind) in zip(surplus, answers, strict=True):
        if kind is NoError:
            report(each)
        else:
            failed.append((each, kind))
    for each, kind in failed:
        raise translate(kind(), f"the access list {each} cannot be deleted", BrokerError)


def _to_kafka(each: AccessList) -> ACL:
    pattern = ACLResourcePatternType.PREFIXED if each.is_prefix else ACLResourcePatternType.LITERAL
    return ACL(
        f"{_USER}{each.user}",
        each.host,
        ACLOperation[each.operation],
        ACLPermissionType[each.permission],
        ResourcePattern(ResourceType[each.kind], each.name, pattern),
    )


def _from_kafka(acl: ACL) -> AccessList:
    pattern: Any = acl.resource_pattern
    return AccessList(
        acl.principal.removeprefix(_USER),
        acl.operation.name,
        pattern.resource_type.name,
        pattern.resource_name,
        pattern.pattern_type is ACLResourcePatternType.PREFIXED,
        acl.host,
        acl.permission_type.name,
    )
