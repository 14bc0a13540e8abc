"""A right that is new reaches the brokers late: the login is tried until it is let in."""

from __future__ import annotations

import threading

import pytest

from penstock.errors import BrokerLoginError
from penstock.kafka import Security, access, await_login
from tests.fixtures.brokers import PRODUCER, Brokers, logged_in

pytestmark = pytest.mark.kafka


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look every 50 ms."""
    monkeypatch.setattr(access, "_PAUSE_SECONDS", 0.05)


def test_a_login_that_is_refused_at_first(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER) as access_key:
        key = brokers.keys.pop(access_key)
        late = threading.Timer(0.5, brokers.keys.__setitem__, (access_key, key))
        late.start()
        await_login(brokers.settings(Security.IAM), timeout_seconds=10)
        late.join()

    assert brokers.logins[access_key] > 1


def test_a_login_that_is_never_let_in(brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER) as access_key:
        brokers.keys.pop(access_key)
        with pytest.raises(BrokerLoginError, match="refuses the login by OAUTHBEARER"):
            await_login(brokers.settings(Security.IAM), timeout_seconds=0.2)
