"""A reader may do exactly what it is to do: what misses is made, what is too much is deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.admin import ACLResourcePatternType as PatternType

from penstock.cli import main
from penstock.errors import BrokerUnavailableError, TopicForbiddenError
from penstock.kafka import KafkaSettings, Reader, Security, acls, apply_readers, drop_access
from systems.clusters import PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka


def lists_of(brokers: Brokers, user: str) -> set[ACL]:
    anything = ResourcePatternFilter(ResourceType.ANY, None, PatternType.ANY)
    asked = ACLFilter(f"User:{user}", None, ACLOperation.ANY, ACLPermissionType.ANY, anything)
    with closing(brokers.cluster.open_admin()) as admin:
        return set(admin.describe_acls(asked)[0])


def reading(user: str, topics: list[str], group_prefix: str) -> set[ACL]:
    patterns = [ResourcePattern(ResourceType.TOPIC, topic) for topic in topics]
    patterns.append(ResourcePattern(ResourceType.GROUP, group_prefix, PatternType.PREFIXED))
    allowed = [(ACLOperation.READ, pattern) for pattern in patterns]
    cluster = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")
    allowed.append((ACLOperation.DESCRIBE_CONFIGS, cluster))
    return {
        ACL(f"User:{user}", "*", operation, ACLPermissionType.ALLOW, pattern)
        for operation, pattern in allowed
    }


def test_a_reader_reads_its_topics_and_its_groups(brokers: Brokers, name: str) -> None:
    with logged_in(brokers, PRODUCER):
        reader = Reader(name, ("a", "b"), f"{name}-")
        first = apply_readers(brokers.settings(Security.IAM), [reader])
        again = apply_readers(brokers.settings(Security.IAM), [reader])

    assert lists_of(brokers, name) == reading(name, ["a", "b"], f"{name}-")
    assert f"User:{name} ALLOW READ on topic a" in first.created
    assert f"User:{name} ALLOW READ on group {name}- by prefix" in first.created
    assert (len(first.created), first.deleted) == (4, ())
    assert (again.created, again.deleted) == ((), ())


def test_a_reader_that_may_write_has_an_access_list_for_each_topic(
    brokers: Brokers, name: str
) -> None:
    settings = brokers.settings(Security.IAM)
    with logged_in(brokers, PRODUCER):
        apply_readers(settings, [Reader(name, ("a",), "g-", ("a", "b"))])
        change = apply_readers(settings, [Reader(name, ("a",), "g-", ("b",))])

    writing = ResourcePattern(ResourceType.TOPIC, "b")
    assert lists_of(brokers, name) == reading(name, ["a"], "g-") | {
        ACL(f"User:{name}", "*", ACLOperation.WRITE, ACLPermissionType.ALLOW, writing)
    }
    assert change.deleted == (f"User:{name} ALLOW WRITE on topic a",)


def test_a_change_creates_missing_and_deletes_surplus_access_lists(
    brokers: Brokers, name: str
) -> None:
    settings = brokers.settings(Security.IAM)
    topic = brokers.create_topic(partitions=1)
    brokers.allow(name, topic, "WRITE")
    with logged_in(brokers, PRODUCER):
        apply_readers(settings, [Reader(name, ("a", "b"), "g-")])
        change = apply_readers(settings, [Reader(name, ("b", "c"), "g-")])

    assert lists_of(brokers, name) == reading(name, ["b", "c"], "g-")
    assert change.created == (f"User:{name} ALLOW READ on topic c",)
    assert change.deleted == (f"User:{name} ALLOW READ on topic a",)


def test_the_command_plans_applies_and_refuses_to_lock_out(
    brokers: Brokers,
    name: str,
    tmp_path: Path,
    keep_secret: Callable[[str, str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(settings: KafkaSettings, words: str, *wanted: dict[str, object]) -> tuple[int, str]:
        also = tmp_path / "also.json"
        also.write_text(json.dumps([{"user": name} | each for each in wanted]))
        flags = ["--also", str(also)] if wanted else []
        code = main(["access", words, *flags], environ_of(settings))
        printed = capsys.readouterr()
        mine = [line for line in printed.out.splitlines() if f"  {name}  " in line]
        return code, "\n".join(" ".join(line.split()) for line in mine) + printed.err

    reading: dict[str, object] = {"operation": "READ", "topic": "a"}
    ruling: dict[str, object] = {"operation": "ALTER", "cluster": True}
    settings = brokers.settings(Security.IAM)
    with logged_in(brokers, PRODUCER):
        apply_readers(settings, [Reader(name, ("a", "b"), "g-")])
        wanted = f"- {name} DESCRIBE_CONFIGS cluster kafka-cluster *"
        code, printed = run(settings, "plan", reading, ruling)
        assert (code, wanted in printed, f"+ {name} ALTER cluster" in printed) == (2, True, True)
        assert f"- {name} READ topic b *" in printed
        assert len(lists_of(brokers, name)) == 4
        assert run(settings, "apply", reading, ruling)[0] == 0
        assert run(settings, "plan", reading, ruling)[0] == 0
        assert run(settings, "list") == (
            0,
            f"{name} ALTER cluster kafka-cluster *\n{name} READ topic a *",
        )
    brokers.set_user(name, "pass-word")
    own = brokers.settings(Security.SCRAM, secret_arn=keep_secret(name, "pass-word"))
    assert run(own, "plan", reading, ruling)[0] == 0
    code, printed = run(own, "apply", reading)
    assert (code, len(lists_of(brokers, name))) == (1, 2)
    assert f"takes DESCRIBE and ALTER on the cluster from User:{name}, who makes it" in printed


def environ_of(settings: KafkaSettings) -> dict[str, str]:
    return {
        "KAFKA_BOOTSTRAP_SERVERS": ",".join(settings.bootstrap_servers),
        "KAFKA_SECURITY": str(settings.security),
        "KAFKA_CA_FILE": settings.ca_file,
        "KAFKA_SECRET_ARN": settings.secret_arn,
        "AWS_REGION": settings.region,
    }


def test_an_access_list_that_another_program_created_is_deleted(
    brokers: Brokers, name: str
) -> None:
    topic = brokers.create_topic(partitions=1)
    brokers.allow(name, topic, "WRITE", "ALL")
    with logged_in(brokers, PRODUCER):
        change = apply_readers(brokers.settings(Security.IAM), [Reader(name, ("a",), "g-")])

    assert lists_of(brokers, name) == reading(name, ["a"], "g-")
    assert f"User:{name} ALLOW WRITE on topic {topic}" in change.deleted


def test_other_users_are_left_alone(brokers: Brokers, name: str) -> None:
    other = f"{name}-other"
    brokers.allow(other, "theirs", "WRITE")
    with logged_in(brokers, PRODUCER):
        apply_readers(brokers.settings(Security.IAM), [Reader(name, ("theirs",), "g-")])
        drop_access(brokers.settings(Security.IAM), name)

    assert [acl.operation for acl in lists_of(brokers, other)] == [ACLOperation.WRITE]
    assert lists_of(brokers, name) == set()


def test_a_user_is_dropped_once_and_again(brokers: Brokers, name: str) -> None:
    with logged_in(brokers, PRODUCER):
        apply_readers(brokers.settings(Security.IAM), [Reader(name, ("a",), "g-")])
        assert len(drop_access(brokers.settings(Security.IAM), name).deleted) == 3
        assert drop_access(brokers.settings(Security.IAM), name).deleted == ()


def test_an_access_list_that_cannot_be_created_is_named(brokers: Brokers, name: str) -> None:
    message = (
        rf"the access list User:{name} ALLOW \w+ on topic  cannot be created: .*InvalidRequest"
    )
    with logged_in(brokers, PRODUCER), pytest.raises(Exception, match=message):
        apply_readers(brokers.settings(Security.IAM), [Reader(name, ("",), "g-")])


def test_a_principal_without_permission_cannot_change_access_lists(
    brokers: Brokers, name: str
) -> None:
    message = rf"the access lists of User:{name} cannot be read: .*ClusterAuthorizationFailed"
    with pytest.raises(TopicForbiddenError, match=message):
        apply_readers(brokers.settings(Security.TLS), [Reader(name, ("a",), "g-")])


def test_an_access_list_that_is_not_deleted_is_named(
    brokers: Brokers, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with logged_in(brokers, PRODUCER):
        apply_readers(brokers.settings(Security.IAM), [Reader(name, ("a",), "g-")])
        monkeypatch.setattr(acls, "_delete", lambda *_: None)
        message = (
            rf"access lists were not applied within 0.2 s: .*User:{name} ALLOW READ on topic a"
        )
        with pytest.raises(BrokerUnavailableError, match=message):
            drop_access(brokers.settings(Security.IAM), name, timeout_seconds=0.2)
