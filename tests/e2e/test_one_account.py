"""Both roots in one account: names do not clash, and a record goes the whole way."""

from __future__ import annotations

import pytest

from tests.e2e.accounts import Accounts
from tests.e2e.leftovers import list_everything, list_usable_keys

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(900)]

_ACCOUNT = "777777777777"


def test_both_roots_live_in_one_account(cloud, client, packages, tmp_path):
    before = list_everything(client, _ACCOUNT)
    accounts = Accounts(cloud, client, tmp_path, packages, owner=_ACCOUNT)
    accounts.producer.apply(
        consumers=[{"name": "analytics", "account_id": _ACCOUNT, "topics": ["sensor"]}]
    )
    analytics = accounts.apply_consumer("analytics", _ACCOUNT)
    assert accounts.list_unfinished() == []

    answer = accounts.produce({"temperature": 30})
    accounts.read("analytics", "sensor", 1)
    accounts.await_row("analytics", answer)

    analytics.destroy()
    accounts.producer.destroy()
    assert list_everything(client, _ACCOUNT) == before
    assert list_usable_keys(client, _ACCOUNT) == []
