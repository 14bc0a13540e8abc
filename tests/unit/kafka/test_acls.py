"""Access lists are created and deleted in few requests, however many they are."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.admin import ACL
from kafka.errors import InvalidRequestError, KafkaError, NoError

from penstock.errors import BrokerError
from penstock.kafka import AccessList, KafkaSettings, Security, acls, apply_access_lists
from tests.stubs.clock import FakeTime

_SETTINGS = KafkaSettings(bootstrap_servers=("broker:9092",), security=Security.PLAINTEXT)


class FakeAdmin:
    """An admin client of brokers that take a second for a request, and show it one read later."""

    def __init__(self, time: FakeTime) -> None:
        self._made: list[ACL] = []
        self._shown: list[ACL] = []
        self.requests: list[int] = []
        self._time = time

    def describe_acls(self, asked: Any) -> tuple[list[ACL], None]:
        shown, self._shown = self._shown, list(self._made)
        return shown, None

    def create_acls(self, wanted: list[ACL]) -> dict[str, list[Any]]:
        self._time.sleep(1)
        self.requests.append(len(wanted))
        good = [acl for acl in wanted if acl.resource_pattern.resource_name != "bad"]
        self._made += good
        return {"succeeded": good, "failed": [InvalidRequestError] * (len(wanted) - len(good))}

    def delete_acls(self, surplus: list[ACL]) -> list[tuple[ACL, list[ACL], type[KafkaError]]]:
        self._time.sleep(1)
        self.requests.append(len(surplus))
        answers = [
            (
                acl,
                [acl],
                InvalidRequestError if acl.resource_pattern.resource_name == "kept" else NoError,
            )
            for acl in surplus
        ]
        self._made = [acl for acl in self._made if (acl, [acl], NoError) not in answers]
        return answers

    def close(self) -> None:
        pass


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    time = FakeTime()
    admin = FakeAdmin(time)
    monkeypatch.setattr(acls, "time", time)
    monkeypatch.setattr(acls, "open_admin", lambda settings: admin)
    return admin


def _reads(*topics: str) -> set[AccessList]:
    return {AccessList("anna", "READ", "TOPIC", topic) for topic in topics}


def test_many_are_created_in_requests_of_a_hundred(admin: FakeAdmin) -> None:
    wanted = _reads(*(f"topic-{i}" for i in range(2_100)))

    change = apply_access_lists(_SETTINGS, {"anna": wanted})

    assert admin.requests == [100] * 21
    assert change.created == tuple(map(str, sorted(wanted)))
    admin.requests.clear()
    assert apply_access_lists(_SETTINGS, {"anna": set()}).deleted == change.created
    assert admin.requests == [100] * 21


def test_the_one_that_fails_is_named_and_the_others_are_reported(admin: FakeAdmin) -> None:
    reported: list[AccessList] = []

    with pytest.raises(BrokerError, match="User:anna ALLOW READ on topic bad cannot be created"):
        apply_access_lists(_SETTINGS, {"anna": _reads("a", "bad", "c")}, reported.append)

    assert set(reported) == _reads("a", "c")


def test_the_one_that_is_not_deleted_is_named_and_the_others_are_reported(
    admin: FakeAdmin,
) -> None:
    reported: list[AccessList] = []
    apply_access_lists(_SETTINGS, {"anna": _reads("a", "kept", "z")})

    with pytest.raises(BrokerError, match="User:anna ALLOW READ on topic kept cannot be deleted"):
        apply_access_lists(_SETTINGS, {"anna": set()}, reported.append)

    assert set(reported) == _reads("a", "z")
