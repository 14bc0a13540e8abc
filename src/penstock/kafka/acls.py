"""Access lists (ACLs): each reader gets exactly the permissions it needs.

Only the access lists of the named users are read and changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any

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

_PAUSE_SECONDS = 0.05
_ANY_HOST = "*"
# Each implies DESCRIBE; since Kafka 2.8, WRITE on a topic also allows idempotent producers.
_READING, _WRITING = ACLOperation.READ, ACLOperation.WRITE
_CLUSTER = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")


@dataclass(frozen=True, slots=True)
class Reader:
    """A user who reads topics in consumer groups whose names begin with `group_prefix`.

    `writes` are the topics that the user may write too.
    """

    username: str
    topics: tuple[str, ...]
    group_prefix: str
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AccessChange:
    """The access lists that were created and deleted, each described in words."""

    created: tuple[str, ...]
    deleted: tuple[str, ...]


def apply_readers(
    settings: KafkaSettings, readers: Iterable[Reader], *, timeout_seconds: float = 15.0
) -> AccessChange:
    """Create missing and delete surplus access lists of the readers; wait until brokers show it.

    Raises:
        BrokerError: an access list cannot be created or deleted; the message says which and why.
        BrokerUnavailableError: the brokers do not show the wanted access lists in time.
    """
    wanted = {_principal(reader.username): _wanted(reader) for reader in readers}
    return _apply(settings, wanted, timeout_seconds)


def drop_access(
    settings: KafkaSettings, username: str, *, timeout_seconds: float = 15.0
) -> AccessChange:
    """Delete every access list of a user, and wait until the brokers show it.

    Raises:
        BrokerError: as in `apply_readers`.
    """
    return _apply(settings, {_principal(username): set()}, timeout_seconds)


def _apply(
    settings: KafkaSettings, wanted: dict[str, set[ACL]], timeout_seconds: float
) -> AccessChange:
    deadline = time.monotonic() + timeout_seconds
    every = set().union(*wanted.values())
    with closing(open_admin(settings)) as admin:
        found = _read_acls(admin, wanted)
        missing, surplus = _in_order(every - found), _in_order(found - every)
        # Create before delete: a reader that changes is never without access.
        for acl in missing:
            _create(admin, acl)
        for acl in surplus:
            _delete(admin, acl)
        # The controller answers before all brokers have the change.
        while (found := _read_acls(admin, wanted)) != every:
            if time.monotonic() > deadline:
                left = ", ".join(_describe_acl(acl) for acl in _in_order(found ^ every))
                raise BrokerUnavailableError(
                    f"access lists were not applied within {timeout_seconds:g} s: {left}"
                )
            time.sleep(_PAUSE_SECONDS)
    return AccessChange(tuple(map(_describe_acl, missing)), tuple(map(_describe_acl, surplus)))


def _wanted(reader: Reader) -> set[ACL]:
    patterns = [ResourcePattern(ResourceType.TOPIC, topic) for topic in reader.topics]
    patterns.append(
        ResourcePattern(ResourceType.GROUP, reader.group_prefix, ACLResourcePatternType.PREFIXED)
    )
    allowed = [(_READING, pattern) for pattern in patterns]
    allowed += [(_WRITING, ResourcePattern(ResourceType.TOPIC, topic)) for topic in reader.writes]
    # Lambda's poller reads the brokers' settings, and delivers nothing to a user who may not.
    allowed.append((ACLOperation.DESCRIBE_CONFIGS, _CLUSTER))
    return {
        ACL(_principal(reader.username), _ANY_HOST, operation, ACLPermissionType.ALLOW, pattern)
        for operation, pattern in allowed
    }


def _read_acls(admin: KafkaAdminClient, principals: Iterable[str]) -> set[ACL]:
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    found: set[ACL] = set()
    for principal in principals:
        asked = ACLFilter(principal, None, ACLOperation.ANY, ACLPermissionType.ANY, anything)
        with translated_kafka_errors(f"the access lists of {principal} cannot be read"):
            found.update(admin.describe_acls(asked)[0])
    return found


def _create(admin: KafkaAdminClient, acl: ACL) -> None:
    problem = f"the access list {_describe_acl(acl)} cannot be created"
    # Each request has one access list: for several, the client does not say which one failed.
    with translated_kafka_errors(problem):
        failures = admin.create_acls([acl])["failed"]
    for kind in failures:
        raise translate(kind(), problem, BrokerError)


def _delete(admin: KafkaAdminClient, acl: ACL) -> None:
    problem = f"the access list {_describe_acl(acl)} cannot be deleted"
    with translated_kafka_errors(problem):
        ((_, _, kind),) = admin.delete_acls([acl])
    if kind is not NoError:
        raise translate(kind(), problem, BrokerError)


def _principal(username: str) -> str:
    return f"User:{username}"


def _in_order(acls: Iterable[ACL]) -> list[ACL]:
    return sorted(acls, key=_describe_acl)


def _describe_acl(acl: ACL) -> str:
    """Describe an access list in words, such as `User:anna ALLOW READ on topic sensor`."""
    pattern: Any = acl.resource_pattern
    prefix = " by prefix" if pattern.pattern_type is ACLResourcePatternType.PREFIXED else ""
    host = "" if acl.host == _ANY_HOST else f" from {acl.host}"
    return (
        f"{acl.principal} {acl.permission_type.name} {acl.operation.name} on "
        f"{pattern.resource_type.name.lower()} {pattern.resource_name}{prefix}{host}"
    )
