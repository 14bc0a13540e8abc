"""A right that is new reaches the brokers late: what needs it is tried until they grant it."""

from __future__ import annotations

import pytest

from penstock.errors import BrokerLoginError, TopicChangeError, TopicForbiddenError
from penstock.kafka import Security, Topic, apply_topics, await_permissions, probe
from penstock.kafka.topics import open_admin
from systems.clusters import ANONYMOUS, PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look every 50 ms."""
    monkeypatch.setattr(probe, "_PAUSE_SECONDS", 0.05)


def log_in(brokers: Brokers) -> None:
    open_admin(brokers.settings(Security.IAM)).close()


def grow(brokers: Brokers, name: str) -> tuple[str, ...]:
    return apply_topics(brokers.settings(Security.TLS), [Topic(name, partitions=2)])


def test_a_login_that_is_refused_at_first(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER) as access_key:
        key = brokers.keys.pop(access_key)

        def log_in_and_let_in() -> None:
            try:
                log_in(brokers)
            finally:
                brokers.keys[access_key] = key

        await_permissions(log_in_and_let_in, timeout_seconds=60)

    assert brokers.logins[access_key] > 1


def test_a_login_that_is_never_accepted(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER) as access_key:
        brokers.keys.pop(access_key)
        with pytest.raises(BrokerLoginError, match="refuses the login by OAUTHBEARER"):
            await_permissions(lambda: log_in(brokers), timeout_seconds=0.2)


def test_a_right_that_is_refused_at_first(brokers: Brokers) -> None:
    name = brokers.create_topic(partitions=1)
    refused: list[TopicForbiddenError] = []

    def grow_and_allow() -> tuple[str, ...]:
        try:
            return grow(brokers, name)
        except TopicForbiddenError as error:
            refused.append(error)
            brokers.allow(ANONYMOUS, name, "DESCRIBE", "ALTER")
            raise

    done = await_permissions(grow_and_allow, timeout_seconds=60)

    assert refused
    assert done == (f"topic {name!r} went from 1 to 2 partitions",)


def test_a_right_that_is_never_granted(brokers: Brokers) -> None:
    name = brokers.create_topic(partitions=1)

    with pytest.raises(TopicForbiddenError, match=rf"topic '{name}' cannot be read: "):
        await_permissions(lambda: grow(brokers, name), timeout_seconds=0.2)


def test_an_error_other_than_a_missing_permission_is_raised_immediately() -> None:
    tries: list[int] = []

    def refuse() -> None:
        tries.append(1)
        raise TopicChangeError("topic 't' has 3 partitions and cannot go down to 2")

    with pytest.raises(TopicChangeError, match="cannot go down to 2"):
        await_permissions(refuse)

    assert len(tries) == 1
